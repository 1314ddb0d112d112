#include "support/op_runner.h"

namespace nxrt::test {
namespace {

OpRun how(int64_t exclusive, int64_t reverse) {
  return {.attributes = {{"exclusive", exclusive}, {"reverse", reverse}}};
}

TEST(CumSum, EveryForm) {
  const Tensor x = Tensor::of<float>({4}, {1, 2, 3, 4}), axis = Tensor::of<int64_t>({}, {0});
  expect_equal(run_op("CumSum", {x, axis}, how(0, 0)), Tensor::of<float>({4}, {1, 3, 6, 10}));
  expect_equal(run_op("CumSum", {x, axis}, how(1, 0)), Tensor::of<float>({4}, {0, 1, 3, 6}));
  expect_equal(run_op("CumSum", {x, axis}, how(0, 1)), Tensor::of<float>({4}, {10, 9, 7, 4}));
  expect_equal(run_op("CumSum", {x, axis}, how(1, 1)), Tensor::of<float>({4}, {9, 7, 4, 0}));
}

TEST(CumSum, AxesAndIntegers) {
  const Tensor x = Tensor::of<int64_t>({2, 2}, {1, 2, 3, 4});
  expect_equal(run_op("CumSum", {x, Tensor::of<int32_t>({1}, {-1})}), Tensor::of<int64_t>({2, 2}, {1, 3, 3, 7}));
  expect_equal(run_op("CumSum", {x, Tensor::of<int32_t>({}, {0})}), Tensor::of<int64_t>({2, 2}, {1, 2, 4, 6}));
}

TEST(CumSum, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "axis is 2, expected -1 to 0",
               [] { run_op("CumSum", {random_f32({3}), Tensor::of<int64_t>({}, {2})}); });
}

}  // namespace
}  // namespace nxrt::test
