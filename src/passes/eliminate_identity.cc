// Nodes that give what they get: Identity, Dropout at inference, and casts, reshapes, transposes, … that change
// nothing.
#include <numeric>

#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {
namespace {

bool keeps_order(const Rewriter& edit, const Node& node) {
  const TensorType& type = edit.value(node.inputs[0]).type;
  if (!type.shape) return false;
  std::vector<int64_t> order(type.shape->dims().size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<int64_t> reversed(order.rbegin(), order.rend());
  return ints(node, "perm", reversed) == order;
}

bool mask_is_unused(const Rewriter& edit, const Node& node) {
  return node.outputs.size() < 2 || node.outputs[1] == kNoValue || edit.uses(node.outputs[1]) == 0;
}

// Training mode is an input since opset 12; only a constant false, or none, is an identity.
bool is_inference_dropout(const Rewriter& edit, const Node& node) {
  if (!mask_is_unused(edit, node)) return false;
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return true;
  const auto& training = edit.value(node.inputs[2]).constant;
  return training && training->dtype() == DType::boolean && training->count() == 1 && !training->data<bool>()[0];
}

// The input that the node's output 0 equals, if there is one.
std::optional<ValueId> passes_through(const Rewriter& edit, const Node& node) {
  if (!node.domain.empty() && node.domain != "ai.onnx") return std::nullopt;
  if (node.inputs.empty() || node.outputs.empty() || node.outputs[0] == kNoValue) return std::nullopt;
  const ValueId x = node.inputs[0], y = node.outputs[0];
  if (x == kNoValue) return std::nullopt;
  const std::string& op = node.op;
  if (op == "Identity") return x;
  if (op == "Dropout") return is_inference_dropout(edit, node) ? std::optional(x) : std::nullopt;
  if (!same_type(edit, x, y)) return std::nullopt;
  if (op == "Cast" || op == "CastLike" || op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze" ||
      op == "Expand") {
    return x;
  }
  if (op == "Transpose") return keeps_order(edit, node) ? std::optional(x) : std::nullopt;
  if (op == "Concat" || op == "Sum" || op == "Max" || op == "Min" || op == "Mean") {
    return node.inputs.size() == 1 ? std::optional(x) : std::nullopt;
  }
  if (op == "Mul" || op == "Div")
    return is_scalar(edit, node.inputs[1], 1.0) && scalar(edit, node.inputs[1]) == 1.0 ? std::optional(x)
                                                                                       : std::nullopt;
  return std::nullopt;
}

}  // namespace

bool eliminate_identity(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id)) continue;
    const auto source = passes_through(edit, edit.node(id));
    if (source && edit.uses(edit.node(id).outputs[0]) > 0) edit.replace(edit.node(id).outputs[0], *source);
  }
  return edit.changed();
}

}  // namespace nxrt::passes
