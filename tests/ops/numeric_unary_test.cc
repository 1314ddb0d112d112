#include <cmath>
#include <limits>

#include "support/op_runner.h"

namespace nxrt::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(NumericUnary, FloatsFollowTheDefinition) {
  const Tensor x = Tensor::of<float>({5}, {-2.5f, 0, 3, -kInfinity, kNaN});
  expect_near(run_op("Abs", {x}), Tensor::of<float>({5}, {2.5f, 0, 3, kInfinity, kNaN}), 0);
  expect_near(run_op("Neg", {x}), Tensor::of<float>({5}, {2.5f, 0, -3, kInfinity, kNaN}), 0);
  expect_near(run_op("Sign", {x}), Tensor::of<float>({5}, {-1, 0, 1, -1, kNaN}), 0);
  expect_near(run_op("Relu", {x}), Tensor::of<float>({5}, {0, 0, 3, 0, kNaN}), 0);
}

TEST(NumericUnary, IntegersWrapInsteadOfTrapping) {
  const int32_t low = std::numeric_limits<int32_t>::min();
  expect_equal(run_op("Neg", {Tensor::of<int32_t>({3}, {low, 0, 7})}), Tensor::of<int32_t>({3}, {low, 0, -7}));
  expect_equal(run_op("Abs", {Tensor::of<int32_t>({3}, {low, -1, 7})}), Tensor::of<int32_t>({3}, {low, 1, 7}));
  expect_equal(run_op("Abs", {Tensor::of<uint8_t>({2}, {0, 255})}), Tensor::of<uint8_t>({2}, {0, 255}));
  expect_equal(run_op("Relu", {Tensor::of<int8_t>({2}, {-128, 5})}), Tensor::of<int8_t>({2}, {0, 5}));
  expect_equal(run_op("Sign", {Tensor::of<int64_t>({3}, {-9, 0, 9})}), Tensor::of<int64_t>({3}, {-1, 0, 1}));
}

TEST(NumericUnary, HalvesGoThroughFloat) {
  const Tensor x = cast_from_f32(random_f32({7}), DType::f16);
  const Tensor y = run_op("Neg", {x});
  for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(to_f32(y).data<float>()[i], -to_f32(x).data<float>()[i]);
}

TEST(NumericUnary, Bits) {
  expect_equal(run_op("BitwiseNot", {Tensor::of<uint8_t>({2}, {0, 0b10100101})}),
               Tensor::of<uint8_t>({2}, {255, 0b01011010}));
  expect_equal(run_op("Not", {Tensor::of<bool>({2}, {true, false})}), Tensor::of<bool>({2}, {false, true}));
}

TEST(NumericUnary, TestsForNanAndInfinity) {
  const Tensor x = Tensor::of<float>({4}, {1, kNaN, kInfinity, -kInfinity});
  expect_equal(run_op("IsNaN", {x}), Tensor::of<bool>({4}, {false, true, false, false}));
  expect_equal(run_op("IsInf", {x}), Tensor::of<bool>({4}, {false, false, true, true}));
  expect_equal(run_op("IsInf", {x}, {.attributes = {{"detect_negative", int64_t{0}}}}),
               Tensor::of<bool>({4}, {false, false, true, false}));
}

TEST(NumericUnary, RefusesOtherTypes) {
  expect_error(Code::invalid_argument, "input 0 is f32, expected bool", [] { run_op("Not", {random_f32({1})}); });
}

TEST(NumericUnary, NegFollowsKnownElements) {
  const TensorType x{DType::i64, SymShape{1}, std::vector<Dim>{Dim::symbol("S")}};
  const auto y = infer_op("Neg", {x});
  ASSERT_TRUE(y[0].elements);
  EXPECT_EQ((*y[0].elements)[0].text(), (Dim(0) - Dim::symbol("S")).text());
}

}  // namespace
}  // namespace nxrt::test
