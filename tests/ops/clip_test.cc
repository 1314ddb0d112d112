#include <limits>

#include "support/op_runner.h"

namespace nxrt::test {
namespace {

TEST(Clip, BoundsAreOptionalInputs) {
  const Tensor x = Tensor::of<float>({4}, {-5, 0, 5, std::numeric_limits<float>::quiet_NaN()});
  const Tensor low = Tensor::of<float>({}, {-1}), high = Tensor::of<float>({}, {2});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_near(run_op("Clip", {x, low, high}), Tensor::of<float>({4}, {-1, 0, 2, nan}), 0);
  expect_near(run_op("Clip", {x, low}), Tensor::of<float>({4}, {-1, 0, 5, nan}), 0);
  expect_near(run_op("Clip", {x, Tensor(), high}), Tensor::of<float>({4}, {-5, 0, 2, nan}), 0);
  expect_near(run_op("Clip", {x}), x, 0);
  expect_near(run_op("Clip", {x, high, low}), Tensor::of<float>({4}, {-1, -1, -1, nan}), 0);
}

TEST(Clip, BoundsAreAttributesBeforeOpset11) {
  const OpRun how{.opset = 6, .attributes = {{"min", -1.0f}, {"max", 1.0f}}};
  expect_near(run_op("Clip", {Tensor::of<float>({3}, {-2, 0.5f, 2})}, how), Tensor::of<float>({3}, {-1, 0.5f, 1}), 0);
}

TEST(Clip, Integers) {
  expect_equal(run_op("Clip", {Tensor::of<int8_t>({3}, {-128, 3, 127}), Tensor::of<int8_t>({}, {-3})}),
               Tensor::of<int8_t>({3}, {-3, 3, 127}));
}

TEST(Clip, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 1 has shape [2], expected a scalar",
               [] { run_op("Clip", {random_f32({2}), random_f32({2})}); });
}

}  // namespace
}  // namespace nxrt::test
