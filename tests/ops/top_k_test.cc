#include <limits>

#include "support/op_runner.h"

namespace nxrt::test {
namespace {

Tensor k_of(int64_t k) { return Tensor::of<int64_t>({1}, {k}); }

TEST(TopK, LargestSmallestAndTies) {
  const Tensor x = Tensor::of<float>({5}, {3, 1, 3, 2, std::numeric_limits<float>::infinity()});
  auto y = run_op_outputs("TopK", {x, k_of(3)}, {.outputs = 2});
  expect_equal(y[1], Tensor::of<int64_t>({3}, {4, 0, 2}));
  y = run_op_outputs("TopK", {x, k_of(3)}, {.attributes = {{"largest", int64_t{0}}}, .outputs = 2});
  expect_equal(y[0], Tensor::of<float>({3}, {1, 2, 3}));
  expect_equal(y[1], Tensor::of<int64_t>({3}, {1, 3, 0}));
}

TEST(TopK, AnyAxisAndThreads) {
  const Tensor x = Tensor::of<int64_t>({2, 3}, {5, 1, 9, 2, 8, 7});
  const auto y = run_op_outputs("TopK", {x, k_of(1)}, {.attributes = {{"axis", int64_t{0}}}, .outputs = 2, .width = 3});
  expect_equal(y[0], Tensor::of<int64_t>({1, 3}, {5, 8, 9}));
  expect_equal(y[1], Tensor::of<int64_t>({1, 3}, {0, 1, 0}));
  const auto old = run_op_outputs("TopK", {x}, {.opset = 9, .attributes = {{"k", int64_t{2}}}, .outputs = 2});
  expect_equal(old[0], Tensor::of<int64_t>({2, 2}, {9, 5, 8, 7}));
}

TEST(TopK, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "k is 4, expected 0 to 3",
               [] { run_op_outputs("TopK", {random_f32({3}), k_of(4)}, {.outputs = 2}); });
}

}  // namespace
}  // namespace nxrt::test
