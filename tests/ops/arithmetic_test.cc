#include <cmath>
#include <limits>

#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

using Define = float (*)(float, float);

// The definition: every output coordinate mapped back to its inputs.
Tensor defined(const Tensor& a, const Tensor& b, Define f) {
  const Shape shape = broadcast(a.shape(), b.shape());
  Tensor y = Tensor::uninitialized(DType::f32, shape);
  const auto at = [&](const Tensor& x, int64_t i) {
    int64_t index = 0, stride = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const int64_t coordinate = i % shape[d];
      i /= shape[d];
      const int own = d - shape.rank() + x.shape().rank();
      if (own < 0) continue;
      if (x.shape()[own] != 1) index += coordinate * stride;
      stride *= x.shape()[own];
    }
    return x.data<float>()[index];
  };
  for (int64_t i = 0; i < y.count(); ++i) y.data<float>()[i] = f(at(a, i), at(b, i));
  return y;
}

const std::pair<const char*, Define> kCases[] = {
    {"Add", [](float a, float b) { return a + b; }},
    {"Sub", [](float a, float b) { return a - b; }},
    {"Mul", [](float a, float b) { return a * b; }},
    {"Div", [](float a, float b) { return a / b; }},
    {"Min", [](float a, float b) { return std::fmin(a, b); }},
    {"Max", [](float a, float b) { return std::fmax(a, b); }},
    {"Sum", [](float a, float b) { return a + b; }},
    {"Mean", [](float a, float b) { return (a + b) / 2; }},
    {"PRelu", [](float a, float b) { return a < 0 ? a * b : a; }},
    {"Mod", [](float a, float b) { return a - std::floor(a / b) * b; }},
};

using Arithmetic = EveryIsa;

TEST_P(Arithmetic, BroadcastsAsTheDefinition) {
  const std::pair<Shape, Shape> shapes[] = {
      {{17}, {17}},           {{}, {5}},        {{2, 3, 33}, {33}}, {{2, 3, 33}, {1}},      {{4, 1, 9}, {3, 1}},
      {{2, 1, 5}, {1, 3, 1}}, {{3, 1}, {1, 7}}, {{0, 3}, {3}},      {{2, 3, 4}, {2, 1, 4}}, {{1, 1, 1}, {2, 2, 2}},
  };
  for (const auto& [op, f] : kCases) {
    for (const auto& [a_shape, b_shape] : shapes) {
      SCOPED_TRACE(testing::Message() << op << a_shape.text() << b_shape.text());
      const Tensor a = random_f32(a_shape, -3, 3, 1), b = random_f32(b_shape, 0.5f, 3, 2);
      expect_near(run_op(op, {a, b}, {.cpu = &cpu()}), defined(a, b, f), 1e-5f);
      if (std::string(op) != "PRelu" && std::string(op) != "Mod" && std::string(op) != "Div") {
        expect_near(run_op(op, {b, a}, {.cpu = &cpu()}), defined(b, a, f), 1e-5f);
      }
    }
  }
}

TEST_P(Arithmetic, HalvesComputeInFloatAcrossPieces) {
  const Tensor a = cast_from_f32(random_f32({2, 1029}), DType::f16), b = cast_from_f32(random_f32({2, 1}), DType::f16);
  const Tensor expected = defined(to_f32(a), to_f32(b), [](float x, float y) { return x * y; });
  expect_equal(run_op("Mul", {a, b}, {.cpu = &cpu()}), cast_from_f32(expected, DType::f16));
}

TEST_P(Arithmetic, ThreadsAndInPlaceChangeNothing) {
  const Tensor a = random_f32({5, 9001}), b = random_f32({5, 9001}), row = random_f32({9001});
  for (const Tensor& other : {b, row}) {
    const Tensor expected = run_op("Add", {a, other}, {.cpu = &cpu()});
    expect_equal(run_op("Add", {a, other}, {.cpu = &cpu(), .width = 3, .in_place = true}), expected);
  }
}
INSTANTIATE_EVERY_ISA(Arithmetic);

TEST(ArithmeticRules, IntegersWrapAndNeverTrap) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  const Tensor a = Tensor::of<int64_t>({4}, {low, 7, -7, 5}), b = Tensor::of<int64_t>({4}, {-1, 2, 2, 0});
  expect_equal(run_op("Div", {a, b}), Tensor::of<int64_t>({4}, {low, 3, -3, 0}));
  expect_equal(run_op("Mod", {a, b}), Tensor::of<int64_t>({4}, {0, 1, 1, 0}));
  expect_equal(run_op("Mod", {a, b}, {.attributes = {{"fmod", int64_t{1}}}}), Tensor::of<int64_t>({4}, {0, 1, -1, 0}));
  expect_equal(run_op("Sub", {a, Tensor::of<int64_t>({}, {1})}),
               Tensor::of<int64_t>({4}, {std::numeric_limits<int64_t>::max(), 6, -8, 4}));
  expect_equal(run_op("Mul", {Tensor::of<uint8_t>({1}, {200}), Tensor::of<uint8_t>({1}, {2})}),
               Tensor::of<uint8_t>({1}, {144}));
}

TEST(ArithmeticRules, VariadicFoldsAll) {
  const Tensor a = Tensor::of<float>({2}, {1, 2}), b = Tensor::of<float>({1}, {4}),
               c = Tensor::of<float>({2, 1}, {0, 7});
  expect_near(run_op("Sum", {a, b, c}), Tensor::of<float>({2, 2}, {5, 6, 12, 13}), 0);
  expect_near(run_op("Max", {a, b, c}), Tensor::of<float>({2, 2}, {4, 4, 7, 7}), 0);
  expect_near(run_op("Min", {a, b, c}), Tensor::of<float>({2, 2}, {0, 0, 1, 2}), 0);
  expect_near(run_op("Mean", {a}), a, 0);
  expect_near(run_op("Mean", {a, b, a}), Tensor::of<float>({2}, {2, 8.0f / 3}), 1e-6f);
}

TEST(ArithmeticRules, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "shapes [2, 3] and [4] do not broadcast",
               [] { run_op("Add", {random_f32({2, 3}), random_f32({4})}); });
  expect_error(Code::invalid_argument, "input 1 is i64, expected f32 as input 0",
               [] { run_op("Add", {random_f32({1}), random_i64({1}, 0, 1)}); });
  expect_error(Code::invalid_argument, "the node has 1 inputs, expected 2", [] { run_op("Add", {random_f32({1})}); });
}

TEST(ArithmeticRules, FollowsSymbolicDimsAndElements) {
  const Dim b = Dim::symbol("B"), s = Dim::symbol("S");
  const auto sum = infer_op("Add", {{DType::f32, SymShape{b, s, 64}, {}}, {DType::f32, SymShape{64}, {}}});
  EXPECT_EQ(sum[0].text(), "f32[B, S, 64]");
  const TensorType x{DType::i64, SymShape{2}, std::vector<Dim>{s, 4}}, two{DType::i64, SymShape{}, std::vector<Dim>{2}};
  EXPECT_EQ((*infer_op("Mul", {x, two})[0].elements)[0].text(), "2*S");
  EXPECT_EQ((*infer_op("Div", {x, two})[0].elements)[1].text(), "2");
  EXPECT_FALSE((*infer_op("Div", {x, two})[0].elements)[0].known());
}

}  // namespace
}  // namespace nxrt::test
