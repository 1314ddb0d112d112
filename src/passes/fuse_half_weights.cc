// A product with f16 or bf16 weights that are cast to f32 first reads them as they are: half the memory, half the
// bytes per token. MatMul(x, Cast(w)), MatMul(x, Transpose(Cast(w))) and MatMul(x, Cast(Transpose(w))).
#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {
namespace {

struct Weights {
  ValueId value;
  bool transposed;
};

bool swaps_two_axes(const Node& transpose) {
  const std::vector<int64_t> perm = ints(transpose, "perm", {1, 0});
  return perm == std::vector<int64_t>{1, 0};
}

// Through at most one Transpose and exactly one Cast to a constant half matrix.
std::optional<Weights> half_weights(const Rewriter& edit, ValueId at) {
  bool cast = false, transposed = false;
  while (true) {
    if (const Node* node = edit.producer(at, "Cast"); node != nullptr && !cast) {
      cast = true;
      at = node->inputs[0];
    } else if (const Node* turn = edit.producer(at, "Transpose");
               turn != nullptr && !transposed && swaps_two_axes(*turn)) {
      transposed = true;
      at = turn->inputs[0];
    } else {
      break;
    }
  }
  const std::optional<Tensor>& constant = edit.value(at).constant;
  if (!cast || !constant || constant->shape().rank() != 2 || constant->count() == 0) return std::nullopt;
  if (constant->dtype() != DType::f16 && constant->dtype() != DType::bf16) return std::nullopt;
  return Weights{at, transposed};
}

}  // namespace

bool fuse_half_weights(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id) || !is_onnx(edit.node(id), "MatMul")) continue;
    const ValueId x = edit.node(id).inputs[0];
    if (edit.value(x).type.dtype != DType::f32) continue;
    const std::optional<Weights> weights = half_weights(edit, edit.node(id).inputs[1]);
    if (!weights) continue;
    Node product{.domain = "nxrt", .op = "MatMulHalf", .opset = 1, .inputs = {x, weights->value}};
    if (weights->transposed) product.attributes["transB"] = int64_t{1};
    edit.become(id, std::move(product));
  }
  return edit.changed();
}

}  // namespace nxrt::passes
