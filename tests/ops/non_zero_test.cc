#include "support/op_runner.h"

namespace nxrt::test {
namespace {

TEST(NonZero, CoordinatesInRowMajorOrder) {
  expect_equal(run_op("NonZero", {Tensor::of<float>({2, 2}, {1, 0, -0.0f, 4})}),
               Tensor::of<int64_t>({2, 2}, {0, 1, 0, 1}));
  expect_equal(run_op("NonZero", {Tensor::of<bool>({3}, {false, true, true})}), Tensor::of<int64_t>({1, 2}, {1, 2}));
  EXPECT_EQ(run_op("NonZero", {Tensor::zeros(DType::i64, {4, 4})}).shape().text(), "[2, 0]");
}

TEST(NonZero, CompressKeepsSlices) {
  const Tensor x = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  expect_equal(run_op("Compress", {x, Tensor::of<bool>({2}, {false, true})}, {.attributes = {{"axis", int64_t{0}}}}),
               Tensor::of<float>({1, 2}, {3, 4}));
  expect_equal(run_op("Compress", {x, Tensor::of<bool>({2}, {false, true})}, {.attributes = {{"axis", int64_t{-1}}}}),
               Tensor::of<float>({3, 1}, {2, 4, 6}));
  expect_equal(run_op("Compress", {x, Tensor::of<bool>({5}, {true, false, false, false, true})}),
               Tensor::of<float>({2}, {1, 5}));
}

TEST(NonZero, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 1 is f32, expected bool",
               [] { run_op("Compress", {random_f32({2}), random_f32({2})}); });
}

}  // namespace
}  // namespace nxrt::test
