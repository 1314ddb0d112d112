// GELU written out → Gelu (ai.onnx 20), exact: x · 0.5 · (1 + Erf(x / √2)),
// or approximate: x · 0.5 · (1 + Tanh(√(2/π) · (x + 0.044715 · x³))).
#include <cmath>
#include <numbers>

#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {
namespace {

constexpr double kCubic = 0.044715;

// Of `sum` = Add(number, other): the other.
std::optional<ValueId> beside_number(const Rewriter& edit, ValueId sum, double number) {
  const Node* add = edit.producer(sum, "Add");
  if (!add) return std::nullopt;
  for (const ValueId term : add->inputs) {
    if (is_scalar(edit, term, number)) return other_input(*add, term);
  }
  return std::nullopt;
}

bool take_number(const Rewriter& edit, std::vector<ValueId>& values, double number) {
  return take(values, [&](ValueId value) { return is_scalar(edit, value, number); }).has_value();
}

bool take_value(std::vector<ValueId>& values, ValueId wanted) {
  return take(values, [&](ValueId value) { return value == wanted; }).has_value();
}

// The factors of `value` when it is a product; itself otherwise.
std::vector<ValueId> factors_of(const Rewriter& edit, ValueId value) {
  const Node* product = edit.producer(value, "Mul");
  return product ? factors(edit, *product) : std::vector<ValueId>{value};
}

bool is_over_root_two(const Rewriter& edit, ValueId value, ValueId x) {
  const Node* quotient = edit.producer(value, "Div");
  if (quotient) return quotient->inputs[0] == x && is_scalar(edit, quotient->inputs[1], std::numbers::sqrt2);
  auto product = factors_of(edit, value);
  return take_value(product, x) && take_number(edit, product, 1 / std::numbers::sqrt2) && product.empty();
}

// 0.044715 · x^power, with Pow or written out.
bool is_cubic_term(const Rewriter& edit, ValueId value, ValueId x, int power) {
  auto product = factors_of(edit, value);
  if (!take_number(edit, product, kCubic)) return false;
  const auto is_power = [&](ValueId factor) {
    const Node* pow = edit.producer(factor, "Pow");
    return pow && pow->inputs[0] == x && is_scalar(edit, pow->inputs[1], power);
  };
  if (product.size() == 1) return is_power(product[0]);
  for (int i = 0; i < power; ++i) {
    if (!take_value(product, x)) return false;
  }
  return product.empty();
}

// √(2/π) · (x + 0.044715 · x³), or with x taken out of the sum.
bool is_tanh_argument(const Rewriter& edit, ValueId value, ValueId x) {
  auto product = factors_of(edit, value);
  if (!take_number(edit, product, std::sqrt(2 / std::numbers::pi))) return false;
  if (product.size() == 1) {
    const Node* sum = edit.producer(product[0], "Add");
    const auto cubic = sum ? other_input(*sum, x) : std::nullopt;
    return cubic && is_cubic_term(edit, *cubic, x, 3);
  }
  if (product.size() != 2 || !take_value(product, x)) return false;
  const auto square = beside_number(edit, product[0], 1.0);
  return square && is_cubic_term(edit, *square, x, 2);
}

// "none" or "tanh" when `sum` is 1 + Erf(…x…) or 1 + Tanh(…x…).
std::optional<std::string> approximation(const Rewriter& edit, ValueId sum, ValueId x) {
  const auto curve = beside_number(edit, sum, 1.0);
  if (!curve) return std::nullopt;
  if (const Node* erf = edit.producer(*curve, "Erf")) {
    return is_over_root_two(edit, erf->inputs[0], x) ? std::optional<std::string>("none") : std::nullopt;
  }
  const Node* tanh = edit.producer(*curve, "Tanh");
  return tanh && is_tanh_argument(edit, tanh->inputs[0], x) ? std::optional<std::string>("tanh") : std::nullopt;
}

void try_fuse(Rewriter& edit, NodeId id) {
  std::vector<ValueId> product = factors(edit, edit.node(id));
  if (product.size() != 3 || !take_number(edit, product, 0.5)) return;
  for (const int first : {0, 1}) {
    const ValueId x = product[static_cast<size_t>(first)], sum = product[static_cast<size_t>(1 - first)];
    const auto approximate = approximation(edit, sum, x);
    if (!approximate) continue;
    edit.become(id, {.op = "Gelu", .opset = 20, .inputs = {x}, .attributes = {{"approximate", *approximate}}});
    return;
  }
}

}  // namespace

bool fuse_gelu(Graph& graph, const PassContext&) {
  if (!ops::find_op("", "Gelu", 20)) return false;
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (edit.alive(id) && is_onnx(edit.node(id), "Mul")) try_fuse(edit, id);
  }
  return edit.changed();
}

}  // namespace nxrt::passes
