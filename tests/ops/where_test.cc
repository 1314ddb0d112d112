#include "support/op_runner.h"

namespace nxrt::test {
namespace {

TEST(Where, BroadcastsAllThree) {
  const Tensor condition = Tensor::of<bool>({2, 1}, {true, false});
  const Tensor x = Tensor::of<float>({3}, {1, 2, 3}), y = Tensor::of<float>({}, {9});
  expect_equal(run_op("Where", {condition, x, y}), Tensor::of<float>({2, 3}, {1, 2, 3, 9, 9, 9}));
}

TEST(Where, EveryElementSize) {
  const Tensor condition = Tensor::of<bool>({3}, {true, false, true});
  expect_equal(run_op("Where", {condition, Tensor::of<uint8_t>({3}, {1, 2, 3}), Tensor::of<uint8_t>({1}, {7})}),
               Tensor::of<uint8_t>({3}, {1, 7, 3}));
  expect_equal(run_op("Where", {condition, Tensor::of<int16_t>({3}, {1, 2, 3}), Tensor::of<int16_t>({1}, {7})}),
               Tensor::of<int16_t>({3}, {1, 7, 3}));
  expect_equal(run_op("Where", {condition, Tensor::of<double>({3}, {1, 2, 3}), Tensor::of<double>({1}, {7})}),
               Tensor::of<double>({3}, {1, 7, 3}));
}

TEST(Where, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 0 is f32, expected bool",
               [] { run_op("Where", {random_f32({1}), random_f32({1}), random_f32({1})}); });
  expect_error(Code::invalid_argument, "do not broadcast",
               [] { run_op("Where", {Tensor::of<bool>({2}, {true, false}), random_f32({3}), random_f32({3})}); });
}

TEST(Where, FollowsElements) {
  const TensorType condition{DType::boolean, SymShape{2}, std::vector<Dim>{1, 0}};
  const TensorType x{DType::i64, SymShape{2}, std::vector<Dim>{Dim::symbol("A"), 3}};
  const TensorType y{DType::i64, SymShape{2}, std::vector<Dim>{5, Dim::symbol("B")}};
  const auto z = infer_op("Where", {condition, x, y});
  EXPECT_EQ(*z[0].elements, (std::vector<Dim>{Dim::symbol("A"), Dim::symbol("B")}));
}

}  // namespace
}  // namespace nxrt::test
