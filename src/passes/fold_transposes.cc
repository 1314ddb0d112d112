// A transpose of a transpose is one transpose; a matrix product with a transposed constant reads it as it lies.
#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {
namespace {

std::vector<int64_t> permutation(const Rewriter& edit, const Node& node) {
  const TensorType& type = edit.value(node.inputs[0]).type;
  std::vector<int64_t> reversed;
  if (type.shape) {
    for (int axis = type.shape->rank() - 1; axis >= 0; --axis) reversed.push_back(axis);
  }
  return ints(node, "perm", reversed);
}

void join(Rewriter& edit, NodeId id) {
  const Node* inner = edit.producer(edit.node(id).inputs[0], "Transpose");
  if (!inner) return;
  const std::vector<int64_t> first = permutation(edit, *inner), second = permutation(edit, edit.node(id));
  if (first.empty() || first.size() != second.size()) return;
  std::vector<int64_t> both;
  for (const int64_t axis : second) both.push_back(first[static_cast<size_t>(axis)]);
  Node direct = edit.node(id);
  direct.inputs = {inner->inputs[0]};
  direct.attributes["perm"] = both;
  edit.become(id, std::move(direct));
}

// Folding would copy the matrix; constants below the folding limit have been folded before.
void read_as_it_lies(Rewriter& edit, NodeId id) {
  const Node& node = edit.node(id);
  const Node* transpose = edit.producer(node.inputs[1], "Transpose");
  if (!transpose || !edit.value(transpose->inputs[0]).constant) return;
  if (permutation(edit, *transpose) != std::vector<int64_t>{1, 0}) return;
  if (!ops::find_op("com.microsoft", "FusedMatMul", 1)) return;
  edit.become(id, {.domain = "com.microsoft",
                   .op = "FusedMatMul",
                   .opset = 1,
                   .inputs = {node.inputs[0], transpose->inputs[0]},
                   .attributes = {{"transB", int64_t{1}}}});
}

}  // namespace

bool fold_transposes(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id)) continue;
    if (is_onnx(edit.node(id), "Transpose")) join(edit, id);
    if (is_onnx(edit.node(id), "MatMul")) read_as_it_lies(edit, id);
  }
  return edit.changed();
}

}  // namespace nxrt::passes
