#include <limits>

#include "support/op_runner.h"

namespace nxrt::test {
namespace {

TEST(Comparison, FollowsTheDefinition) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor a = Tensor::of<float>({4}, {1, 2, 3, nan}), b = Tensor::of<float>({1}, {2});
  expect_equal(run_op("Equal", {a, b}), Tensor::of<bool>({4}, {false, true, false, false}));
  expect_equal(run_op("Greater", {a, b}), Tensor::of<bool>({4}, {false, false, true, false}));
  expect_equal(run_op("Less", {a, b}), Tensor::of<bool>({4}, {true, false, false, false}));
  expect_equal(run_op("GreaterOrEqual", {a, b}), Tensor::of<bool>({4}, {false, true, true, false}));
  expect_equal(run_op("LessOrEqual", {a, b}), Tensor::of<bool>({4}, {true, true, false, false}));
}

TEST(Comparison, TypesBeyondFloat) {
  const Tensor big = Tensor::of<uint64_t>({2}, {std::numeric_limits<uint64_t>::max(), 1});
  expect_equal(run_op("Greater", {big, Tensor::of<uint64_t>({1}, {5})}), Tensor::of<bool>({2}, {true, false}));
  const Tensor h = cast_from_f32(Tensor::of<float>({3}, {-1, 0, 1}), DType::f16);
  expect_equal(run_op("Less", {h, cast_from_f32(Tensor::of<float>({}, {0}), DType::f16)}),
               Tensor::of<bool>({3}, {true, false, false}));
  expect_equal(run_op("Equal", {Tensor::of<bool>({2, 1}, {true, false}), Tensor::of<bool>({2}, {true, false})}),
               Tensor::of<bool>({2, 2}, {true, false, false, true}));
}

TEST(Comparison, Logic) {
  const Tensor a = Tensor::of<bool>({4}, {false, false, true, true}),
               b = Tensor::of<bool>({4}, {false, true, false, true});
  expect_equal(run_op("And", {a, b}), Tensor::of<bool>({4}, {false, false, false, true}));
  expect_equal(run_op("Or", {a, b}), Tensor::of<bool>({4}, {false, true, true, true}));
  expect_equal(run_op("Xor", {a, b}), Tensor::of<bool>({4}, {false, true, true, false}));
}

TEST(Comparison, Bits) {
  const Tensor a = Tensor::of<uint8_t>({2}, {0b1100, 200}), b = Tensor::of<uint8_t>({2}, {0b1010, 9});
  expect_equal(run_op("BitwiseAnd", {a, b}), Tensor::of<uint8_t>({2}, {0b1000, 8}));
  expect_equal(run_op("BitwiseOr", {a, b}), Tensor::of<uint8_t>({2}, {0b1110, 201}));
  expect_equal(run_op("BitwiseXor", {a, b}), Tensor::of<uint8_t>({2}, {0b0110, 193}));
  expect_equal(run_op("BitShift", {a, b}, {.attributes = {{"direction", std::string("LEFT")}}}),
               Tensor::of<uint8_t>({2}, {0, 0}));
  expect_equal(
      run_op("BitShift", {a, Tensor::of<uint8_t>({1}, {2})}, {.attributes = {{"direction", std::string("RIGHT")}}}),
      Tensor::of<uint8_t>({2}, {3, 50}));
}

TEST(Comparison, SignedShiftsKeepTheSign) {
  const Tensor a = Tensor::of<int8_t>({4}, {-8, 64, -1, 4}), b = Tensor::of<int8_t>({4}, {1, 1, 100, -1});
  const auto shift = [&](const char* to) {
    return run_op("BitShift", {a, b}, {.attributes = {{"direction", std::string(to)}}});
  };
  expect_equal(shift("LEFT"), Tensor::of<int8_t>({4}, {-16, -128, 0, 0}));
  expect_equal(shift("RIGHT"), Tensor::of<int8_t>({4}, {-4, 32, -1, 0}));
}

TEST(Comparison, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 0 is f32, expected bool",
               [] { run_op("And", {random_f32({1}), random_f32({1})}); });
  expect_error(Code::invalid_argument, "attribute 'direction' is 'UP', expected 'LEFT' or 'RIGHT'", [] {
    const Tensor x = Tensor::of<uint8_t>({1}, {1});
    run_op("BitShift", {x, x}, {.attributes = {{"direction", std::string("UP")}}});
  });
}

TEST(Comparison, EqualFollowsElements) {
  const TensorType x{DType::i64, SymShape{3}, std::vector<Dim>{Dim::symbol("S"), 1, 4}};
  const TensorType y{DType::i64, SymShape{3}, std::vector<Dim>{Dim::symbol("S"), 1, 5}};
  const auto z = infer_op("Equal", {x, y});
  EXPECT_EQ(*z[0].elements, (std::vector<Dim>{1, 1, 0}));
}

}  // namespace
}  // namespace nxrt::test
