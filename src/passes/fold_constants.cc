// Pure operators on constants run once, now; integer tensors that shape inference knows become constants.
#include <algorithm>

#include "passes/pass.h"
#include "passes/support/control_flow.h"
#include "passes/support/evaluate.h"
#include "passes/support/rewriter.h"

namespace nxrt::passes {
namespace {

template <class T>
Tensor tensor_of(const Shape& shape, const std::vector<int64_t>& values) {
  Tensor tensor = Tensor::uninitialized(dtype_of<T>(), shape);
  std::transform(values.begin(), values.end(), tensor.data<T>(), [](int64_t value) { return static_cast<T>(value); });
  return tensor;
}

// A value whose elements inference found, whatever its producer reads (Shape of a static shape, for one).
std::optional<Tensor> known_elements(const TensorType& type) {
  if (!type.elements || !type.shape) return std::nullopt;
  const auto shape = type.shape->constant();
  if (!shape || shape->count() != static_cast<int64_t>(type.elements->size())) return std::nullopt;
  std::vector<int64_t> values;
  for (const Dim& element : *type.elements) {
    const auto value = element.constant();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  switch (type.dtype) {
    case DType::i64: return tensor_of<int64_t>(*shape, values);
    case DType::i32: return tensor_of<int32_t>(*shape, values);
    case DType::boolean: return tensor_of<bool>(*shape, values);
    default: return std::nullopt;
  }
}

bool reads_only_constants(const Rewriter& edit, const Node& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId input) { return input == kNoValue || edit.value(input).constant; });
}

bool runs_now(const Rewriter& edit, const Node& node, const ops::OpDef& op, const PassContext& context) {
  return op.pure && context.cpu && context.workers && reads_only_constants(edit, node);
}

void fold(Rewriter& edit, NodeId id, const ops::OpDef& op, const PassContext& context) {
  const Node& node = edit.node(id);
  std::vector<Tensor> inputs;
  for (const ValueId input : node.inputs) inputs.push_back(input == kNoValue ? Tensor{} : *edit.value(input).constant);
  const std::vector<bool> constant(inputs.size(), true);
  const auto results =
      evaluate(node, op, inputs, constant, {*context.cpu, *context.workers, context.where, context.max_folded_bytes});
  if (!results) return;
  const std::vector<ValueId> outputs = node.outputs;
  for (size_t i = 0; i < outputs.size() && i < results->size(); ++i) {
    if (outputs[i] != kNoValue) edit.make_constant(outputs[i], (*results)[i]);
  }
}

}  // namespace

bool fold_constants(Graph& graph, const PassContext& context) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id) || is_control_flow(edit.node(id))) continue;
    const Node& node = edit.node(id);
    const ops::OpDef* op = ops::find_op(node.domain, node.op, node.opset);
    if (!op) continue;
    if (runs_now(edit, node, *op, context)) {
      fold(edit, id, *op, context);
      continue;
    }
    const std::vector<ValueId> outputs = node.outputs;
    for (const ValueId output : outputs) {
      if (output == kNoValue || !edit.alive(id) || !op->pure) continue;
      if (auto tensor = known_elements(edit.value(output).type)) edit.make_constant(output, *std::move(tensor));
    }
  }
  return edit.changed();
}

}  // namespace nxrt::passes
