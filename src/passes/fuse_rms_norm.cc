// RMS normalisation written out: x / Sqrt(ReduceMean(x²) + epsilon) · scale → SimplifiedLayerNormalization(x, scale).
#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {
namespace {

bool is_square_of(const Rewriter& edit, ValueId square, ValueId x) {
  if (const Node* pow = edit.producer(square, "Pow"))
    return pow->inputs[0] == x && is_scalar(edit, pow->inputs[1], 2.0);
  const Node* mul = edit.producer(square, "Mul");
  return mul && mul->inputs[0] == x && mul->inputs[1] == x;
}

bool is_mean_over_last_axis(const Rewriter& edit, const Node& mean) {
  if (integer(mean, "keepdims", 1) != 1) return false;
  const TensorType& type = edit.value(mean.inputs[0]).type;
  std::vector<int64_t> axes = ints(mean, "axes");
  if (mean.inputs.size() > 1) axes = integers(edit, mean.inputs[1]).value_or(std::vector<int64_t>{});
  return axes.size() == 1 && type.shape && (axes[0] == -1 || axes[0] == type.shape->rank() - 1);
}

// `root` = Sqrt(ReduceMean(x²) + epsilon): the epsilon.
std::optional<double> epsilon_of_root(const Rewriter& edit, ValueId root, ValueId x) {
  const Node* sqrt = edit.producer(root, "Sqrt");
  const Node* sum = sqrt ? edit.producer(sqrt->inputs[0], "Add") : nullptr;
  if (!sum) return std::nullopt;
  for (const ValueId term : sum->inputs) {
    const Node* mean = edit.producer(term, "ReduceMean");
    const auto epsilon = scalar(edit, *other_input(*sum, term));
    if (mean && epsilon && is_mean_over_last_axis(edit, *mean) && is_square_of(edit, mean->inputs[0], x))
      return epsilon;
  }
  return std::nullopt;
}

struct Normalized {
  ValueId x;
  double epsilon;
};

// x / root, x · (1 / root) or x · Reciprocal(root).
std::optional<Normalized> match_normalized(const Rewriter& edit, ValueId value) {
  if (const Node* quotient = edit.producer(value, "Div")) {
    const auto epsilon = epsilon_of_root(edit, quotient->inputs[1], quotient->inputs[0]);
    return epsilon ? std::optional(Normalized{quotient->inputs[0], *epsilon}) : std::nullopt;
  }
  const Node* product = edit.producer(value, "Mul");
  if (!product) return std::nullopt;
  for (const ValueId inverse : product->inputs) {
    const ValueId x = *other_input(*product, inverse);
    const Node* reciprocal = edit.producer(inverse, "Reciprocal");
    const Node* quotient = edit.producer(inverse, "Div");
    ValueId root = kNoValue;
    if (reciprocal) root = reciprocal->inputs[0];
    if (quotient && is_scalar(edit, quotient->inputs[0], 1.0)) root = quotient->inputs[1];
    if (root == kNoValue) continue;
    if (const auto epsilon = epsilon_of_root(edit, root, x)) return Normalized{x, *epsilon};
  }
  return std::nullopt;
}

// A scale with one number per element of the last axis.
bool scales_last_axis(const Rewriter& edit, ValueId scale, ValueId x) {
  const TensorType& type = edit.value(scale).type;
  const TensorType& data = edit.value(x).type;
  if (!type.shape || !data.shape || type.dtype != data.dtype || type.dtype != DType::f32) return false;
  return type.shape->rank() == 1 && data.shape->rank() >= 1 &&
         same((*type.shape)[0], (*data.shape)[data.shape->rank() - 1]);
}

}  // namespace

bool fuse_rms_norm(Graph& graph, const PassContext&) {
  if (!ops::find_op("", "SimplifiedLayerNormalization", 1)) return false;
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id) || !is_onnx(edit.node(id), "Mul")) continue;
    const std::vector<ValueId> inputs = edit.node(id).inputs;
    for (const ValueId normalized : inputs) {
      const auto match = match_normalized(edit, normalized);
      const ValueId scale = *other_input(edit.node(id), normalized);
      if (!match || !scales_last_axis(edit, scale, match->x)) continue;
      edit.become(id, {.op = "SimplifiedLayerNormalization",
                       .opset = 1,
                       .inputs = {match->x, scale},
                       .attributes = {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(match->epsilon)}}});
      break;
    }
  }
  return edit.changed();
}

}  // namespace nxrt::passes
