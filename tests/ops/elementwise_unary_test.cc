#include <cmath>
#include <limits>

#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

using Attributes = std::map<std::string, Attribute>;

struct Case {
  const char* op;
  double (*define)(double);
  float low = -4, high = 4;
  Attributes attributes = {};
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Case kCases[] = {
    {"Exp", [](double x) { return std::exp(x); }},
    {"Log", [](double x) { return std::log(x); }, 0.01f, 50},
    {"Sqrt", [](double x) { return std::sqrt(x); }, 0, 50},
    {"Reciprocal", [](double x) { return 1 / x; }, 0.1f, 9},
    {"Tanh", [](double x) { return std::tanh(x); }},
    {"Sigmoid", sigmoid},
    {"Erf", [](double x) { return std::erf(x); }},
    {"Sin", [](double x) { return std::sin(x); }},
    {"Cos", [](double x) { return std::cos(x); }},
    {"Atanh", [](double x) { return std::atanh(x); }, -0.9f, 0.9f},
    {"Floor", [](double x) { return std::floor(x); }},
    {"Ceil", [](double x) { return std::ceil(x); }},
    {"Round", [](double x) { return std::nearbyint(x); }},
    {"Softplus", [](double x) { return std::log(std::exp(x) + 1); }},
    {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
    {"Mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    {"HardSwish", [](double x) { return x * std::fmin(1, std::fmax(0, x / 6 + 0.5)); }},
    {"Gelu", [](double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }},
    {"Gelu",
     [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); },
     -4,
     4,
     {{"approximate", std::string("tanh")}}},
    {"LeakyRelu", [](double x) { return x < 0 ? 0.25 * x : x; }, -4, 4, {{"alpha", 0.25f}}},
    {"Elu", [](double x) { return x < 0 ? std::exp(x) - 1 : x; }},
    {"Celu", [](double x) { return x < 0 ? 2 * (std::exp(x / 2) - 1) : x; }, -4, 4, {{"alpha", 2.0f}}},
    {"Selu", [](double x) { return 1.0507010221 * (x > 0 ? x : 1.6732631921 * (std::exp(x) - 1)); }},
    {"HardSigmoid", [](double x) { return std::fmin(1, std::fmax(0, 0.2 * x + 0.5)); }},
    {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }},
    {"Shrink", [](double x) { return x < -0.5  ? x
                                     : x > 0.5 ? x
                                               : 0; }},
    {"Swish", [](double x) { return x * sigmoid(x); }},
};

Tensor defined(const Case& c, const Tensor& x) {
  Tensor y = Tensor::uninitialized(DType::f32, x.shape());
  for (int64_t i = 0; i < x.count(); ++i) y.data<float>()[i] = static_cast<float>(c.define(x.data<float>()[i]));
  return y;
}

using ElementwiseUnary = EveryIsa;

TEST_P(ElementwiseUnary, MatchesTheDefinition) {
  for (const Case& c : kCases) {
    for (const int64_t n : {1, 15, 16, 17, 513}) {
      SCOPED_TRACE(testing::Message() << c.op << " of " << n);
      const Tensor x = random_f32({n}, c.low, c.high, static_cast<uint32_t>(n));
      expect_near(run_op(c.op, {x}, {.attributes = c.attributes, .cpu = &cpu()}), defined(c, x), 4e-6f);
    }
  }
}

TEST_P(ElementwiseUnary, HalfTypesComputeInFloat) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.op);
    for (const auto& [dtype, tolerance] : {std::pair{DType::f16, 1e-3f}, {DType::bf16, 8e-3f}}) {
      const Tensor x = cast_from_f32(random_f32({3, 521}, c.low, c.high), dtype);
      const Tensor y = run_op(c.op, {x}, {.attributes = c.attributes, .cpu = &cpu()});
      EXPECT_EQ(y.dtype(), dtype);
      expect_near(to_f32(y), defined(c, to_f32(x)), tolerance);
    }
  }
}
INSTANTIATE_EVERY_ISA(ElementwiseUnary);

TEST(ElementwiseUnaryRules, DoublesKeepTheirPrecision) {
  const Tensor y = run_op("Exp", {Tensor::of<double>({1}, {1.0})});
  EXPECT_DOUBLE_EQ(y.data<double>()[0], M_E);
}

TEST(ElementwiseUnaryRules, RunsInPlaceAndOverSeveralThreads) {
  const Tensor x = random_f32({3, 20'001});
  const Tensor expected = run_op("Tanh", {x});
  expect_equal(run_op("Tanh", {x}, {.width = 3, .in_place = true}), expected);
}

TEST(ElementwiseUnaryRules, RoundsHalvesToEven) {
  expect_equal(run_op("Round", {Tensor::of<float>({6}, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.4f})}),
               Tensor::of<float>({6}, {0, 2, 2, -0.0f, -2, 2}));
}

TEST(ElementwiseUnaryRules, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 0 is i64, expected f32, f64, f16 or bf16",
               [] { run_op("Exp", {Tensor::of<int64_t>({1}, {1})}); });
  expect_error(Code::invalid_argument, "attribute 'approximate' is 'fast', expected 'none' or 'tanh'", [] {
    run_op("Gelu", {Tensor::of<float>({1}, {1})}, {.attributes = {{"approximate", std::string("fast")}}});
  });
  expect_error(Code::invalid_argument, "attribute 'alpha' is an int, expected a float",
               [] { run_op("Elu", {Tensor::of<float>({1}, {1})}, {.attributes = {{"alpha", int64_t{1}}}}); });
}

TEST(ElementwiseUnaryRules, KeepsSymbolicShapes) {
  const auto types = infer_op("Sigmoid", {{DType::f32, SymShape{Dim::symbol("B"), 3}, {}}});
  EXPECT_EQ(types[0].text(), "f32[B, 3]");
}

}  // namespace
}  // namespace nxrt::test
