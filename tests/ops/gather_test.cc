#include "support/op_runner.h"

namespace nxrt::test {
namespace {

OpRun along(int64_t axis) { return {.attributes = {{"axis", axis}}}; }

TEST(Gather, RowsAndColumns) {
  const Tensor x = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  expect_equal(run_op("Gather", {x, Tensor::of<int64_t>({2, 1}, {2, -3})}), Tensor::of<float>({2, 1, 2}, {5, 6, 1, 2}));
  expect_equal(run_op("Gather", {x, Tensor::of<int32_t>({}, {1})}, along(1)), Tensor::of<float>({3}, {2, 4, 6}));
  expect_equal(run_op("Gather", {x, Tensor::of<int32_t>({2}, {1, 1})}, along(-1)),
               Tensor::of<float>({3, 2}, {2, 2, 4, 4, 6, 6}));
  EXPECT_EQ(run_op("Gather", {x, Tensor::zeros(DType::i64, {0})}).shape().text(), "[0, 2]");
}

TEST(Gather, FollowsElementsAndSymbols) {
  const Dim s = Dim::symbol("S");
  const TensorType shape{DType::i64, SymShape{3}, std::vector<Dim>{1, s, 64}};
  const TensorType one{DType::i64, SymShape{}, std::vector<Dim>{1}};
  EXPECT_EQ(*infer_op("Gather", {shape, one})[0].elements, std::vector<Dim>{s});
  EXPECT_EQ(infer_op("Gather", {{DType::f32, SymShape{9, 4}, {}}, {DType::i64, SymShape{1, s}, {}}})[0].text(),
            "f32[1, S, 4]");
}

TEST(Gather, IndicesOutOfRange) {
  expect_error(Code::invalid_argument, "index 3 is out of range for an axis of 3",
               [] { run_op("Gather", {random_f32({3}), Tensor::of<int64_t>({1}, {3})}); });
  // More than what is followed before running: read as zero, never out of bounds.
  const Tensor many = run_op("Expand", {Tensor::of<int64_t>({1}, {1'000'000}), Tensor::of<int64_t>({1}, {2000})});
  expect_equal(run_op("Gather", {random_f32({3}), many}), Tensor::zeros(DType::f32, {2000}));
  expect_equal(run_op("GatherElements", {random_f32({2000}), many}), Tensor::zeros(DType::f32, {2000}));
  expect_equal(run_op("GatherND", {random_f32({3}), many.reshaped({2000, 1})}), Tensor::zeros(DType::f32, {2000}));
}

TEST(Gather, Elements) {
  const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  expect_equal(run_op("GatherElements", {x, Tensor::of<int64_t>({2, 2}, {0, 0, 1, 0})}, along(1)),
               Tensor::of<float>({2, 2}, {1, 1, 4, 3}));
  expect_equal(run_op("GatherElements", {x, Tensor::of<int64_t>({1, 2}, {-1, 0})}, along(0)),
               Tensor::of<float>({1, 2}, {3, 2}));
  expect_error(Code::invalid_argument, "larger than [2, 2] of input 0",
               [&] { run_op("GatherElements", {x, Tensor::of<int64_t>({1, 3}, {0, 0, 0})}, along(0)); });
}

TEST(Gather, ND) {
  const Tensor x = Tensor::of<int32_t>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  expect_equal(run_op("GatherND", {x, Tensor::of<int64_t>({2, 2}, {0, 1, 1, 0})}),
               Tensor::of<int32_t>({2, 2}, {2, 3, 4, 5}));
  expect_equal(
      run_op("GatherND", {x, Tensor::of<int64_t>({2, 1}, {1, 0})}, {.attributes = {{"batch_dims", int64_t{1}}}}),
      Tensor::of<int32_t>({2, 2}, {2, 3, 4, 5}));
  expect_error(Code::invalid_argument, "the last dim of input 1 is 4, expected 1 to 3",
               [&] { run_op("GatherND", {x, Tensor::of<int64_t>({1, 4}, {0, 0, 0, 0})}); });
}

}  // namespace
}  // namespace nxrt::test
