// One float in, one float out: y = f(x). A row per operator: its definition, and the kernel that is faster where there
// is one.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

struct Parameters {
  double alpha = 0, beta = 0;
};
struct Parameter {
  std::string_view name;
  float fallback = 0;
};
struct Function {
  std::string_view name;
  int since;
  double (*define)(double x, const Parameters& p);
  std::optional<Unary> kernel = {};
  Parameter alpha = {}, beta = {};
};

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double gelu_erf(double x, const Parameters&) { return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0))); }
double gelu_tanh(double x, const Parameters&) {
  return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}
double hard_sigmoid(double x, double alpha, double beta) { return std::max(0.0, std::min(1.0, alpha * x + beta)); }

using P = const Parameters&;
constexpr Function kFunctions[] = {
    {"Exp", 1, [](double x, P) { return std::exp(x); }, Unary::exp},
    {"Log", 1, [](double x, P) { return std::log(x); }, Unary::log},
    {"Sqrt", 1, [](double x, P) { return std::sqrt(x); }, Unary::sqrt},
    {"Reciprocal", 1, [](double x, P) { return 1.0 / x; }, Unary::reciprocal},
    {"Tanh", 1, [](double x, P) { return std::tanh(x); }, Unary::tanh},
    {"Sigmoid", 1, [](double x, P) { return sigmoid(x); }, Unary::sigmoid},
    {"Erf", 9, [](double x, P) { return std::erf(x); }, Unary::erf},
    {"Sin", 7, [](double x, P) { return std::sin(x); }, Unary::sin},
    {"Cos", 7, [](double x, P) { return std::cos(x); }, Unary::cos},
    {"Tan", 7, [](double x, P) { return std::tan(x); }},
    {"Asin", 7, [](double x, P) { return std::asin(x); }},
    {"Acos", 7, [](double x, P) { return std::acos(x); }},
    {"Atan", 7, [](double x, P) { return std::atan(x); }},
    {"Sinh", 9, [](double x, P) { return std::sinh(x); }},
    {"Cosh", 9, [](double x, P) { return std::cosh(x); }},
    {"Asinh", 9, [](double x, P) { return std::asinh(x); }},
    {"Acosh", 9, [](double x, P) { return std::acosh(x); }},
    {"Atanh", 9, [](double x, P) { return std::atanh(x); }},
    {"Floor", 1, [](double x, P) { return std::floor(x); }, Unary::floor},
    {"Ceil", 1, [](double x, P) { return std::ceil(x); }, Unary::ceil},
    {"Round", 11, [](double x, P) { return std::nearbyint(x); }, Unary::round},
    {"Softplus", 1, [](double x, P) { return softplus(x); }},
    {"Softsign", 1, [](double x, P) { return x / (1.0 + std::abs(x)); }},
    {"Mish", 18, [](double x, P) { return x * std::tanh(softplus(x)); }},
    {"HardSwish", 14, [](double x, P) { return x * hard_sigmoid(x, 1.0 / 6.0, 0.5); }},
    {"Gelu", 20, gelu_erf, Unary::gelu_erf},
    {"LeakyRelu", 6, [](double x, P p) { return x < 0 ? p.alpha * x : x; }, {}, {"alpha", 0.01f}},
    {"Elu", 6, [](double x, P p) { return x < 0 ? p.alpha * std::expm1(x) : x; }, {}, {"alpha", 1.0f}},
    {"Celu",
     12,
     [](double x, P p) { return std::max(0.0, x) + std::min(0.0, p.alpha * std::expm1(x / p.alpha)); },
     {},
     {"alpha", 1.0f}},
    {"Selu",
     6,
     [](double x, P p) { return p.beta * (x > 0 ? x : p.alpha * std::expm1(x)); },
     {},
     {"alpha", 1.67326319217681884765625f},
     {"gamma", 1.05070102214813232421875f}},
    {"HardSigmoid",
     6,
     [](double x, P p) { return hard_sigmoid(x, p.alpha, p.beta); },
     {},
     {"alpha", 0.2f},
     {"beta", 0.5f}},
    {"ThresholdedRelu", 10, [](double x, P p) { return x > p.alpha ? x : 0.0; }, {}, {"alpha", 1.0f}},
    {"Shrink",
     9,
     [](double x, P p) { return x < -p.alpha  ? x + p.beta
                                : x > p.alpha ? x - p.beta
                                              : 0.0; },
     {},
     {"lambd", 0.5f},
     {"bias", 0.0f}},
    {"Swish", 24, [](double x, P p) { return x * sigmoid(p.alpha * x); }, {}, {"alpha", 1.0f}},
};

Function function_of(const NodeView& node) {
  for (const Function& f : kFunctions) {
    if (f.name != node.node().op) continue;
    if (f.name != "Gelu") return f;
    const std::string how = node.str("approximate", "none");
    if (how != "none" && how != "tanh") {
      node.fail(fmt::format("attribute 'approximate' is '{}', expected 'none' or 'tanh'", how));
    }
    Function chosen = f;
    if (how == "tanh") chosen.define = gelu_tanh, chosen.kernel = Unary::gelu_tanh;
    return chosen;
  }
  node.unsupported("no such function");
}

Parameters parameters_of(const NodeView& node, const Function& f) {
  const auto read = [&](const Parameter& p) { return p.name.empty() ? 0.0f : node.f32(p.name, p.fallback); };
  return {read(f.alpha), read(f.beta)};
}

std::vector<TensorType> infer(const NodeView& node) {
  expect_types(node, 0, Floats{});
  parameters_of(node, function_of(node));
  return like_input(node);
}

template <class T>
UnaryRow defined(const Function& f, const Parameters& p) {
  return [define = f.define, p](const void* x, void* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(y)[i] = static_cast<T>(define(static_cast<const T*>(x)[i], p));
  };
}

UnaryRow float_row(const Function& f, const Parameters& p, const Kernels& cpu) {
  if (!f.kernel) return defined<float>(f, p);
  return [kernel = cpu.unary[static_cast<int>(*f.kernel)]](const void* x, void* y, int64_t n) {
    kernel(static_cast<const float*>(x), static_cast<float*>(y), n);
  };
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const Function f = function_of(node);
  const Parameters p = parameters_of(node, f);
  const DType dtype = node.input(0).dtype;
  UnaryRow row = dtype == DType::f64 ? defined<double>(f, p) : float_row(f, p, with.cpu);
  if (dtype == DType::f16 || dtype == DType::bf16) row = through_float(std::move(row), dtype, with.cpu);
  Kernel kernel = unary_kernel(std::move(row));
  kernel.in_place = 0;
  return kernel;
}

}  // namespace

std::span<const OpDef> elementwise_unary() {
  static const std::vector<OpDef> table = [] {
    std::vector<OpDef> rows;
    for (const Function& f : kFunctions) {
      rows.push_back({.name = f.name, .since = f.since, .infer = infer, .prepare = prepare});
    }
    return rows;
  }();
  return table;
}

}  // namespace nxrt::ops
