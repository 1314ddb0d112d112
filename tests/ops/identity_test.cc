#include "support/op_runner.h"

namespace nxrt::test {
namespace {

TEST(Identity, IsAView) {
  const Tensor x = random_f32({2, 3});
  EXPECT_EQ(run_op("Identity", {x}).raw(), x.raw());
}

TEST(Identity, DropoutPassesItsInputAndAMaskOfTrue) {
  const Tensor x = random_f32({5});
  const auto y = run_op_outputs("Dropout", {x}, {.outputs = 2});
  expect_equal(y[0], x);
  expect_equal(y[1], Tensor::of<bool>({5}, {true, true, true, true, true}));
}

TEST(Identity, DropoutRefusesTraining) {
  expect_error(Code::unsupported, "training_mode is not known to be false", [] {
    run_op("Dropout", {random_f32({5}), Tensor::of<float>({}, {0.5f}), Tensor::of<bool>({}, {true})});
  });
}

}  // namespace
}  // namespace nxrt::test
