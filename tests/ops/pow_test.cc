#include <cmath>

#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

using Pow = EveryIsa;

TEST_P(Pow, FloatsToFloats) {
  const Tensor x = random_f32({3, 37}, 0.1f, 4);
  for (const float exponent : {2.0f, 0.5f, -1.5f, 3.0f, 0.0f}) {
    Tensor expected = Tensor::uninitialized(DType::f32, x.shape());
    for (int64_t i = 0; i < x.count(); ++i) {
      expected.data<float>()[i] = static_cast<float>(std::pow(static_cast<double>(x.data<float>()[i]), exponent));
    }
    expect_near(run_op("Pow", {x, Tensor::of<float>({}, {exponent})}, {.cpu = &cpu()}), expected, 1e-5f);
    const Tensor full =
        run_op("Pow", {x, run_op("Expand", {Tensor::of<float>({1}, {exponent}), Tensor::of<int64_t>({2}, {3, 37})})},
               {.cpu = &cpu()});
    expect_near(full, expected, 1e-5f);
  }
}
INSTANTIATE_EVERY_ISA(Pow);

TEST(PowRules, NegativeBases) {
  expect_near(run_op("Pow", {Tensor::of<float>({3}, {-2, -2, -8}), Tensor::of<float>({3}, {2, 3, NAN})}),
              Tensor::of<float>({3}, {4, -8, NAN}), 1e-6f);
}

TEST(PowRules, IntegersAreExact) {
  expect_equal(
      run_op("Pow", {Tensor::of<int64_t>({5}, {3, -2, 2, 7, -1}), Tensor::of<int64_t>({5}, {35, 3, -1, 0, -3})}),
      Tensor::of<int64_t>({5}, {50'031'545'098'999'707, -8, 0, 1, -1}));
}

TEST(PowRules, TheExponentMayHaveAnotherType) {
  expect_near(run_op("Pow", {Tensor::of<float>({2}, {1.5f, 2}), Tensor::of<int32_t>({1}, {2})}),
              Tensor::of<float>({2}, {2.25f, 4}), 1e-6f);
  expect_equal(run_op("Pow", {Tensor::of<int32_t>({2}, {2, 9}), Tensor::of<float>({1}, {0.5f})}),
               Tensor::of<int32_t>({2}, {1, 3}));
}

TEST(PowRules, RefusesBool) {
  expect_error(Code::invalid_argument, "input 0 is bool, expected f32, f64, f16, bf16, i32 or i64",
               [] { run_op("Pow", {Tensor::of<bool>({1}, {true}), Tensor::of<float>({1}, {1})}); });
}

}  // namespace
}  // namespace nxrt::test
