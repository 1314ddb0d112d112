#include <cmath>

#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

Tensor defined(const Tensor& x, int64_t n, int64_t inner, bool log) {
  Tensor y = Tensor::uninitialized(DType::f32, x.shape());
  for (int64_t i = 0; i < x.count() / n; ++i) {
    const int64_t at = i / inner * n * inner + i % inner;
    double max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; ++j) max = std::fmax(max, x.data<float>()[at + j * inner]);
    for (int64_t j = 0; j < n; ++j) sum += std::exp(x.data<float>()[at + j * inner] - max);
    for (int64_t j = 0; j < n; ++j) {
      const double e = x.data<float>()[at + j * inner] - max;
      y.data<float>()[at + j * inner] = static_cast<float>(log ? e - std::log(sum) : std::exp(e) / sum);
    }
  }
  return y;
}

OpRun along(int64_t axis, int opset = 13) { return {.opset = opset, .attributes = {{"axis", axis}}}; }

using Softmax = EveryIsa;

TEST_P(Softmax, AlongAnyAxis) {
  const Tensor x = random_f32({3, 17, 5}, -30, 30);
  for (const bool log : {false, true}) {
    const char* op = log ? "LogSoftmax" : "Softmax";
    for (const auto& [axis, n, inner] : {std::array<int64_t, 3>{0, 3, 85}, {1, 17, 5}, {2, 5, 1}, {-1, 5, 1}}) {
      OpRun how = along(axis);
      how.cpu = &cpu();
      how.width = 2;
      expect_near(run_op(op, {x}, how), defined(x, n, inner, log), 1e-5f);
    }
    OpRun old = along(1, 11);
    old.cpu = &cpu();
    expect_near(run_op(op, {x}, old), defined(x, 85, 1, log), 1e-5f);
  }
}
INSTANTIATE_EVERY_ISA(Softmax);

TEST(SoftmaxRules, HalvesDoublesAndScale) {
  const Tensor x = random_f32({2, 33}, -4, 4);
  expect_near(to_f32(run_op("Softmax", {cast_from_f32(x, DType::f16)})), defined(x, 33, 1, false), 2e-3f);
  expect_near(to_f32(run_op("Softmax", {cast_from_f32(x, DType::f64)})), defined(x, 33, 1, false), 1e-6f);
  expect_near(run_op("Softmax", {Tensor::of<float>({2}, {1e30f, 1e30f})}), Tensor::of<float>({2}, {0.5f, 0.5f}), 1e-6f);
}

TEST(SoftmaxRules, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "attribute 'axis' is 3, expected -2 to 1",
               [] { run_op("Softmax", {random_f32({2, 2})}, along(3)); });
  expect_error(Code::invalid_argument, "input 0 is i64", [] { run_op("Softmax", {random_i64({2, 2}, 0, 1)}); });
}

}  // namespace
}  // namespace nxrt::test
