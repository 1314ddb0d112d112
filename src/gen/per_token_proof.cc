#include "gen/per_token_proof.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "ops/support/elements.h"

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

int64_t integer(const Node& node, const char* name, int64_t fallback) {
  const auto attribute = node.attributes.find(name);
  if (attribute == node.attributes.end()) return fallback;
  const auto* value = std::get_if<int64_t>(&attribute->second);
  return value ? *value : fallback;
}

// One that runs a body may read values that are not among its inputs.
bool has_body(const Node& node) {
  return std::ranges::any_of(node.attributes, [](const auto& attribute) {
    return std::holds_alternative<std::shared_ptr<Graph>>(attribute.second);
  });
}

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
      if (output != kNoValue) labels_[output] = is_known(output) ? Label{} : result;
    }
  }

 private:
  // Shape inference tells every element whatever the step: "Shape of the token ids, element 0" is 1.
  bool is_known(ValueId value) const {
    const auto& elements = graph_.value(value).type.elements;
    return elements && std::ranges::all_of(*elements, [](const Dim& dim) { return dim.is_constant(); });
  }

  Label of_node(const Node& node) const {
    if (has_body(node)) return mixed(node, "runs a body, which is not followed");
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
    if (node.op == "MatMul") return matmul(node);
    if (node.op == "MatMulNBits" || node.op == "BlockQuantizedMatMul") return product(node);
    if (node.op == "Gemm") return gemm(node);
    if (node.op == "Gather" || node.op == "GatherBlockQuantized") return gather(node);
    if (node.op == "Transpose") return transpose(node);
    if (node.op == "Concat" || node.op == "Split" || node.op == "Softmax" || node.op == "LogSoftmax" ||
        node.op == "TopK")
      return other_axis(node);
    if (node.op == "Slice") return slice(node);
    if (node.op == "Expand") return expand(node);
    if (node.op.starts_with("Reduce")) return reduce(node);
    if (node.op == "RotaryEmbedding") return rotary(node);
    if (node.op == "PagedAttention") return attention(node);
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
    int64_t axis = integer(node, "axis", -1);
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
    return a;
  }

  // The tokens are the rows of the left matrices, the columns of the right ones, or a batch axis of one or both.
  Label matmul(const Node& node) const {
    int from_end = -1;
    for (size_t i = 0; i < 2; ++i) {
      const ValueId input = node.inputs[i];
      if (of(input).kind == Label::step) return mixed(node, "multiplies by a matrix made from the number of tokens");
      if (rank(input) < 2) return mixed(node, "multiplies by a vector");
      if (of(input).kind != Label::rows) continue;
      const int here = rank(input) - of(input).axis;
      if (here == (i == 0 ? 1 : 2)) return mixed(node, "sums over the tokens");
      if (from_end >= 0 && (here != from_end || here < 3)) return mixed(node, "multiplies tokens with tokens");
      from_end = here;
    }
    for (const ValueId input : node.inputs) {
      const int axis = rank(input) - from_end;
      if (of(input).kind == Label::constant && from_end > 2 && axis >= 0 && !((*shape(input))[axis] == Dim(1)))
        return mixed(node, "multiplies by a stack of matrices that differs by position");
    }
    const int result = rank(node.outputs[0]);
    return result < 0 ? mixed(node, "has an output of unknown rank") : Label{Label::rows, result - from_end, {}};
  }

  Label gemm(const Node& node) const {
    if (integer(node, "transA", 0) != 0) return mixed(node, "transposes the tokens");
    if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
      const SymShape* bias = shape(node.inputs[2]);
      if (!bias || (bias->rank() == 2 && !((*bias)[0] == Dim(1))))
        return mixed(node, "adds a bias that differs by position");
    }
    return product(node);
  }

  Label gather(const Node& node) const {
    const Label &data = of(node.inputs[0]), &indices = of(node.inputs[1]);
    int64_t axis = integer(node, node.op == "Gather" ? "axis" : "gather_axis", 0);
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
    // Softmax before version 13 flattens the axes from `axis` on, which is 1 by default.
    const bool flattening = node.op.ends_with("oftmax") && node.opset < 13;
    int64_t axis = integer(node, "axis", node.op == "Split" ? 0 : flattening ? 1 : -1);
    if (axis < 0) axis += n;
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

  std::optional<std::vector<int64_t>> integers(ValueId value) const {
    const nxrt::Value& of = graph_.value(value);
    const auto elements = of.constant ? nxrt::ops::elements_of(*of.constant) : of.type.elements;
    if (!elements) return {};
    std::vector<int64_t> numbers;
    for (const Dim& dim : *elements) {
      if (!dim.constant()) return {};
      numbers.push_back(*dim.constant());
    }
    return numbers;
  }

  // Axes given as an attribute or as input `at`; `all` when none are given, nothing when they can't be told.
  std::optional<std::vector<int64_t>> axes_of(const Node& node, size_t at, std::vector<int64_t> all) const {
    const auto attribute = node.attributes.find("axes");
    std::optional<std::vector<int64_t>> axes = std::move(all);
    if (attribute != node.attributes.end()) {
      const auto* given = std::get_if<std::vector<int64_t>>(&attribute->second);
      axes = given ? std::optional(*given) : std::nullopt;
    } else if (node.inputs.size() > at && node.inputs[at] != kNoValue) {
      axes = integers(node.inputs[at]);
    }
    if (!axes) return {};
    for (int64_t& axis : *axes) axis += axis < 0 ? rank(node.inputs[0]) : 0;
    return axes;
  }

  std::vector<int64_t> first_axes(int64_t count) const {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < count; ++axis) axes.push_back(axis);
    return axes;
  }

  int64_t number_of_starts(const Node& node) const {        // -1: unknown
    const auto attribute = node.attributes.find("starts");  // before version 10
    if (attribute != node.attributes.end()) {
      const auto* listed = std::get_if<std::vector<int64_t>>(&attribute->second);
      return listed ? static_cast<int64_t>(listed->size()) : -1;
    }
    const SymShape* starts = node.inputs.size() > 1 ? shape(node.inputs[1]) : nullptr;
    return starts ? starts->count().constant().value_or(-1) : -1;
  }

  Label slice(const Node& node) const {
    const Label& x = of(node.inputs[0]);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue && of(node.inputs[i]).kind != Label::constant)
        return mixed(node, "cuts at a place that depends on the tokens");
    }
    const int64_t count = number_of_starts(node);
    if (rank(node.inputs[0]) < 0 || count < 0) return mixed(node, "has an unknown shape");
    const auto axes = axes_of(node, 3, first_axes(count));
    if (!axes) return mixed(node, "has unknown axes");
    return std::ranges::find(*axes, x.axis) == axes->end() ? x : mixed(node, "picks among tokens");
  }

  Label expand(const Node& node) const {
    const Label& x = of(node.inputs[0]);
    const SymShape *from = shape(node.inputs[0]), *to = shape(node.outputs[0]);
    if (x.kind != Label::rows || !from || !to) return mixed(node, "has an unknown shape");
    const int axis = to->rank() - (from->rank() - x.axis);
    return (*to)[axis] == Dim::symbol(rows_) ? Label{Label::rows, axis, {}} : mixed(node, "repeats the tokens");
  }

  Label reduce(const Node& node) const {
    const Label& x = of(node.inputs[0]);
    const int n = rank(node.inputs[0]);
    if (x.kind != Label::rows || n < 0) return mixed(node, "has an unexpected first input");
    const bool keeps_all = integer(node, "noop_with_empty_axes", 0) != 0;
    const auto axes = axes_of(node, 1, first_axes(keeps_all ? 0 : n));
    if (!axes) return mixed(node, "has unknown axes");
    if (axes->empty() && !keeps_all) return mixed(node, "reduces over the tokens");
    if (std::ranges::find(*axes, x.axis) != axes->end()) return mixed(node, "reduces over the tokens");
    if (integer(node, "keepdims", 1) != 0) return x;
    const auto before = std::ranges::count_if(*axes, [&](int64_t axis) { return axis < x.axis; });
    return {Label::rows, x.axis - static_cast<int>(before), {}};
  }

  // Each token brings its position, or its own cosines and sines; one offset for all would count the step's rows.
  Label rotary(const Node& node) const {
    const auto follows = [&](size_t i) {
      return node.inputs.size() > i && node.inputs[i] != kNoValue && of(node.inputs[i]).kind == Label::rows;
    };
    const bool placed = follows(node.domain.empty() ? 3 : 1) || (node.domain.empty() && follows(1) && follows(2));
    const bool from_step =
        std::ranges::any_of(node.inputs, [&](ValueId v) { return v != kNoValue && of(v).kind == Label::step; });
    if (!follows(0) || !placed || from_step) return mixed(node, "takes its positions from the number of tokens");
    return of(node.inputs[0]);
  }

  // It alone may mix rows, of one sequence; its queries, keys and values must be the rows of the step.
  Label attention(const Node& node) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      const Label& input = of(node.inputs[i]);
      const bool fits = i < 3 ? input.kind == Label::rows && input.axis == 1 : input.kind == Label::constant;
      if (!fits) return mixed(node, "has an input that is not per token");
    }
    return of(node.inputs[0]);
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
