#include "support/op_runner.h"

namespace nxrt::test {
namespace {

Tensor list(std::initializer_list<int64_t> v) { return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, v); }

TEST(Expand, BroadcastsBothWays) {
  const Tensor x = Tensor::of<float>({2, 1}, {1, 2});
  expect_equal(run_op("Expand", {x, list({2, 3})}), Tensor::of<float>({2, 3}, {1, 1, 1, 2, 2, 2}));
  expect_equal(run_op("Expand", {x, list({3})}), Tensor::of<float>({2, 3}, {1, 1, 1, 2, 2, 2}));
  expect_equal(run_op("Expand", {x, list({2, 1, 1})}), Tensor::of<float>({2, 2, 1}, {1, 2, 1, 2}));
  EXPECT_EQ(run_op("Expand", {x, list({2, 0})}).count(), 0);
  expect_error(Code::invalid_argument, "shapes [2, 1] and [3, 1] do not broadcast",
               [&] { run_op("Expand", {x, list({3, 1})}); });
}

TEST(Expand, Tile) {
  const Tensor x = Tensor::of<uint8_t>({2, 2}, {1, 2, 3, 4});
  expect_equal(run_op("Tile", {x, list({2, 1})}), Tensor::of<uint8_t>({4, 2}, {1, 2, 3, 4, 1, 2, 3, 4}));
  expect_equal(run_op("Tile", {x, list({1, 2})}), Tensor::of<uint8_t>({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4}));
  expect_equal(run_op("Tile", {x, list({2, 2})}),
               Tensor::of<uint8_t>({4, 4}, {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(run_op("Tile", {x, list({0, 2})}).count(), 0);
  expect_error(Code::invalid_argument, "input 1 has 1 repeats, expected 2", [&] { run_op("Tile", {x, list({2})}); });
  expect_error(Code::invalid_argument, "repeat 0 is -1", [&] { run_op("Tile", {x, list({-1, 1})}); });
}

TEST(Expand, FollowsSymbols) {
  const TensorType x{DType::f32, SymShape{1, 4}, {}};
  const TensorType shape{DType::i64, SymShape{2}, std::vector<Dim>{Dim::symbol("S"), 1}};
  EXPECT_EQ(infer_op("Expand", {x, shape})[0].text(), "f32[S, 4]");
  EXPECT_EQ(infer_op("Tile", {x, shape})[0].text(), "f32[S, 4]");
  EXPECT_EQ(infer_op("Expand", {x, {DType::i64, SymShape{3}, {}}})[0].text(), "f32[?, ?, 4]");
}

}  // namespace
}  // namespace nxrt::test
