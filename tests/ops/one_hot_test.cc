#include "support/op_runner.h"

namespace nxrt::test {
namespace {

TEST(OneHot, IndicesDepthAndValuesOfAnyType) {
  const Tensor at = Tensor::of<int64_t>({3}, {0, -1, 7}), values = Tensor::of<float>({2}, {0.5f, 2});
  expect_equal(run_op("OneHot", {at, Tensor::of<int64_t>({}, {2}), values}),
               Tensor::of<float>({3, 2}, {2, 0.5f, 0.5f, 2, 0.5f, 0.5f}));
  expect_equal(
      run_op("OneHot", {Tensor::of<float>({1}, {1}), Tensor::of<float>({1}, {3}), Tensor::of<int32_t>({2}, {0, 1})}),
      Tensor::of<int32_t>({1, 3}, {0, 1, 0}));
}

TEST(OneHot, TheNewAxisMayComeFirst) {
  expect_equal(run_op("OneHot",
                      {Tensor::of<int64_t>({2}, {1, 0}), Tensor::of<int64_t>({}, {3}), Tensor::of<int8_t>({2}, {0, 1})},
                      {.attributes = {{"axis", int64_t{0}}}}),
               Tensor::of<int8_t>({3, 2}, {0, 1, 1, 0, 0, 0}));
}

TEST(OneHot, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 2 has shape [3], expected [2]",
               [] { run_op("OneHot", {random_i64({2}, 0, 1), Tensor::of<int64_t>({}, {3}), random_f32({3})}); });
  expect_error(Code::invalid_argument, "the depth is -1",
               [] { run_op("OneHot", {random_i64({2}, 0, 1), Tensor::of<int64_t>({}, {-1}), random_f32({2})}); });
}

}  // namespace
}  // namespace nxrt::test
