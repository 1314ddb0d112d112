#include "gen/per_token_proof.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace genai {
using nxrt::Dim;
using nxrt::Graph;
using nxrt::kNoValue;
using nxrt::Node;
using nxrt::NodeId;
using nxrt::SymShape;
using nxrt::ValueId;
namespace {

struct Label {
  enum Kind { constant, step, rows, mixed } kind = constant;
  int axis = 0;        // of rows
  std::string reason;  // of mixed
};

// Element by element, with broadcasting from the right.
constexpr auto kElementwise = std::to_array<std::string_view>(
    {"Abs",         "Neg",         "Exp",       "Log",      "Sqrt",     "Reciprocal", "Tanh",     "Sigmoid",
     "Relu",        "Erf",         "Sin",       "Cos",      "Floor",    "Ceil",       "Round",    "Sign",
     "Not",         "IsNaN",       "IsInf",     "Softplus", "Gelu",     "Elu",        "Selu",     "Mish",
     "HardSwish",   "HardSigmoid", "LeakyRelu", "Softsign", "Swish",    "PRelu",      "Cast",     "Clip",
     "Silu",        "SiluMul",     "QuickGelu", "FastGelu", "BiasGelu", "Identity",   "CastLike", "Add",
     "Sub",         "Mul",         "Div",       "Mod",      "Pow",      "Min",        "Max",      "Sum",
     "Mean",        "And",         "Or",        "Xor",      "Equal",    "Greater",    "Less",     "GreaterOrEqual",
     "LessOrEqual", "Where",       "Dropout"});
// Over the axes from `axis` (default: the last) to the end.
constexpr auto kNormalizations =
    std::to_array<std::string_view>({"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization",
                                     "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"});
// Another arrangement of the same elements.
constexpr auto kReshapes = std::to_array<std::string_view>({"Reshape", "Squeeze", "Unsqueeze", "Flatten"});

bool among(std::string_view op, auto& list) { return std::ranges::find(list, op) != list.end(); }

class Analysis {
 public:
  Analysis(const Graph& graph, const std::string& rows) : graph_(graph), rows_(rows) {}

  void label(ValueId value, Label label) { labels_[value] = std::move(label); }

  const Label& of(ValueId value) const {
    static const Label constant;
    const auto found = labels_.find(value);
    return found == labels_.end() ? constant : found->second;
  }

  void visit(const Node& node) {
    const Label result = of_node(node);
    for (const ValueId output : node.outputs) {
      if (output != kNoValue) labels_[output] = result;
    }
  }

 private:
  Label of_node(const Node& node) const {
    if (node.op == "Shape" || node.op == "Size") {
      return {all_constant(node) ? Label::constant : Label::step, 0, {}};
    }
    if (all_constant(node)) return {};
    const auto broken =
        std::ranges::find_if(node.inputs, [&](ValueId v) { return v != kNoValue && of(v).kind == Label::mixed; });
    if (broken != node.inputs.end()) return of(*broken);
    const bool no_rows =
        std::ranges::none_of(node.inputs, [&](ValueId v) { return v != kNoValue && of(v).kind == Label::rows; });
    if (no_rows) return {Label::step, 0, {}};
    return with_rows(node);
  }

  bool all_constant(const Node& node) const {
    return std::ranges::all_of(node.inputs, [&](ValueId v) { return v == kNoValue || of(v).kind == Label::constant; });
  }

  Label with_rows(const Node& node) const {
    if (among(node.op, kElementwise)) return elementwise(node);
    if (among(node.op, kNormalizations)) return normalization(node);
    if (among(node.op, kReshapes)) return reshape(node);
    if (node.op == "MatMul" || node.op == "MatMulNBits" || node.op == "BlockQuantizedMatMul") return product(node);
    if (node.op == "Gemm") return gemm(node);
    if (node.op == "Gather" || node.op == "GatherBlockQuantized") return gather(node);
    if (node.op == "Transpose") return transpose(node);
    if (node.op == "Concat" || node.op == "Split" || node.op == "Softmax" || node.op == "LogSoftmax")
      return other_axis(node);
    if (node.op == "RotaryEmbedding" || node.op == "PagedAttention") return same_as_first(node);
    return mixed(node, "is not known to work on each token alone");
  }

  Label mixed(const Node& node, const std::string& why) const { return {Label::mixed, 0, place_of(node) + " " + why}; }

  int rank(ValueId value) const {
    const auto& shape = graph_.value(value).type.shape;
    return shape ? shape->rank() : -1;
  }
  const SymShape* shape(ValueId value) const {
    const auto& known = graph_.value(value).type.shape;
    return known ? &*known : nullptr;
  }

  // Every rows operand must have its tokens on the same axis counted from the right, and every constant must be the
  // same for all tokens there.
  Label elementwise(const Node& node) const {
    int from_end = -1;
    for (const ValueId input : node.inputs) {
      if (input == kNoValue || of(input).kind != Label::rows) continue;
      if (rank(input) < 0) return mixed(node, "has an input of unknown rank");
      const int here = rank(input) - of(input).axis;
      if (from_end >= 0 && here != from_end) return mixed(node, "combines tokens on different axes");
      from_end = here;
    }
    for (const ValueId input : node.inputs) {
      if (input == kNoValue || of(input).kind == Label::rows) continue;
      if (of(input).kind == Label::step)
        return mixed(node, "combines tokens with values made from the number of tokens");
      const SymShape* constant = shape(input);
      if (!constant) return mixed(node, "has an input of unknown rank");
      const int axis = constant->rank() - from_end;
      if (axis >= 0 && !((*constant)[axis] == Dim(1)))
        return mixed(node, "combines tokens with a constant that differs by position");
    }
    const int result = rank(node.outputs[0]);
    return result < 0 ? mixed(node, "has an output of unknown rank") : Label{Label::rows, result - from_end, {}};
  }

  Label normalization(const Node& node) const {
    const Label& x = of(node.inputs[0]);
    if (x.kind != Label::rows || rank(node.inputs[0]) < 0) return mixed(node, "has an unexpected first input");
    int64_t axis = -1;
    if (const auto attribute = node.attributes.find("axis"); attribute != node.attributes.end()) {
      if (const auto* given = std::get_if<int64_t>(&attribute->second)) axis = *given;
    }
    if (axis < 0) axis += rank(node.inputs[0]);
    if (axis <= x.axis) return mixed(node, "normalises over the tokens");
    const bool skip = node.op.starts_with("Skip");
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      const bool residual = skip && i == 1;
      if (input == kNoValue || of(input).kind == Label::constant) continue;
      if (!residual || of(input).kind != Label::rows || of(input).axis != x.axis) {
        return mixed(node, "has an operand that is not per token");
      }
    }
    return x;
  }

  Label product(const Node& node) const {
    const Label& a = of(node.inputs[0]);
    if (a.kind != Label::rows) return mixed(node, "multiplies by a matrix made from tokens");
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue && of(node.inputs[i]).kind != Label::constant)
        return mixed(node, "multiplies tokens with tokens");
    }
    if (rank(node.inputs[0]) < 0 || a.axis == rank(node.inputs[0]) - 1) return mixed(node, "sums over the tokens");
    if (node.op == "MatMul" && rank(node.inputs[1]) != 2) return mixed(node, "multiplies by a stack of matrices");
    return a;
  }

  Label gemm(const Node& node) const {
    const auto transposed = node.attributes.find("transA");
    if (transposed != node.attributes.end() &&
        !(std::get_if<int64_t>(&transposed->second) && std::get<int64_t>(transposed->second) == 0)) {
      return mixed(node, "transposes the tokens");
    }
    if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
      const SymShape* bias = shape(node.inputs[2]);
      if (!bias || (bias->rank() == 2 && !((*bias)[0] == Dim(1))))
        return mixed(node, "adds a bias that differs by position");
    }
    return product(node);
  }

  Label gather(const Node& node) const {
    const Label &data = of(node.inputs[0]), &indices = of(node.inputs[1]);
    int64_t axis = 0;
    for (const char* name : {"axis", "gather_axis"}) {
      const auto attribute = node.attributes.find(name);
      if (attribute == node.attributes.end()) continue;
      if (const auto* given = std::get_if<int64_t>(&attribute->second)) axis = *given;
    }
    if (rank(node.inputs[0]) < 0 || rank(node.inputs[1]) < 0) return mixed(node, "has an input of unknown rank");
    if (axis < 0) axis += rank(node.inputs[0]);
    if (data.kind == Label::constant && indices.kind == Label::rows)
      return {Label::rows, static_cast<int>(axis) + indices.axis, {}};
    if (data.kind != Label::rows || indices.kind != Label::constant || axis == data.axis)
      return mixed(node, "picks among tokens");
    const int shift = axis < data.axis ? rank(node.inputs[1]) - 1 : 0;
    return {Label::rows, data.axis + shift, {}};
  }

  Label transpose(const Node& node) const {
    const Label& x = of(node.inputs[0]);
    const int n = rank(node.inputs[0]);
    if (n < 0) return mixed(node, "has an input of unknown rank");
    const auto attribute = node.attributes.find("perm");
    if (attribute == node.attributes.end()) return {Label::rows, n - 1 - x.axis, {}};
    const auto* perm = std::get_if<std::vector<int64_t>>(&attribute->second);
    if (!perm) return mixed(node, "has a perm of the wrong type");
    const auto at = std::ranges::find(*perm, x.axis);
    return {Label::rows, static_cast<int>(at - perm->begin()), {}};
  }

  // Split, Concat, Softmax: fine along any axis but the tokens'.
  Label other_axis(const Node& node) const {
    const Label& x = of(node.inputs[0]);
    const int n = rank(node.inputs[0]);
    if (x.kind != Label::rows || n < 0) return mixed(node, "has an unexpected first input");
    int64_t axis = node.op == "Split" ? 0 : -1;
    if (const auto attribute = node.attributes.find("axis"); attribute != node.attributes.end()) {
      if (const auto* given = std::get_if<int64_t>(&attribute->second)) axis = *given;
    }
    if (axis < 0) axis += n;
    const bool flattening =
        node.op.ends_with("oftmax") && node.opset < 13;  // old Softmax flattens the axes from `axis` on
    if (axis == x.axis || (flattening && axis <= x.axis)) return mixed(node, "works along the tokens");
    if (node.op != "Concat") return x;
    const bool agree =
        std::ranges::all_of(node.inputs, [&](ValueId v) { return of(v).kind == Label::rows && of(v).axis == x.axis; });
    return agree ? x : mixed(node, "joins tokens with something else");
  }

  // The token axis survives when the same product of dims stands before it, and it is still exactly the tokens.
  Label reshape(const Node& node) const {
    const Label& x = of(node.inputs[0]);
    const SymShape *from = shape(node.inputs[0]), *to = shape(node.outputs[0]);
    if (x.kind != Label::rows || !from || !to) return mixed(node, "has an unknown shape");
    const Dim before = from->count(0, x.axis);
    for (int axis = 0; axis < to->rank(); ++axis) {
      if ((*to)[axis] == Dim::symbol(rows_) && to->count(0, axis) == before) return {Label::rows, axis, {}};
    }
    return mixed(node,
                 "moves the tokens to an axis that can't be followed (" + from->text() + " to " + to->text() + ")");
  }

  Label same_as_first(const Node& node) const {
    const Label& x = of(node.inputs[0]);
    const bool from_step =
        std::ranges::any_of(node.inputs, [&](ValueId v) { return v != kNoValue && of(v).kind == Label::step; });
    if (x.kind != Label::rows || from_step) return mixed(node, "has an input that is not per token");
    return x;
  }

  const Graph& graph_;
  const std::string& rows_;
  std::unordered_map<ValueId, Label> labels_;
};

}  // namespace

std::optional<std::string> why_not_per_token(const Graph& graph, const std::vector<TokenInput>& tokens, ValueId output,
                                             int axis, const std::string& rows) {
  Analysis analysis(graph, rows);
  for (const ValueId input : graph.inputs()) {
    analysis.label(
        input, {Label::mixed, 0, "the graph input '" + graph.value(input).name + "' has no role in paged decoding"});
  }
  for (const TokenInput& token : tokens) analysis.label(token.value, {Label::rows, token.axis, {}});
  for (const NodeId id : graph.order()) analysis.visit(graph.node(id));
  const Label& result = analysis.of(output);
  if (result.kind == Label::mixed) return result.reason;
  if (result.kind == Label::rows && result.axis == axis) return {};
  return "the logits do not follow the tokens along axis " + std::to_string(axis);
}

}  // namespace genai
