#include <rapidcheck.h>

#include "base/dispatch_ledger.h"
#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

// [.., m, k] x [.., k, n] by the definition; leading dims of b are those of a or b has none.
Tensor defined(const Tensor& a, const Tensor& b) {
  const int64_t m = a.shape()[a.shape().rank() - 2], k = a.shape()[a.shape().rank() - 1],
                n = b.shape()[b.shape().rank() - 1];
  const int64_t batches = a.count() / (m * k);
  const bool shared = b.shape().rank() == 2;
  Tensor y = Tensor::zeros(DType::f32, a.shape().with(a.shape().rank() - 1, n));
  for (int64_t i = 0; i < batches; ++i) {
    const float *x = a.data<float>() + i * m * k, *w = b.data<float>() + (shared ? 0 : i * k * n);
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (int64_t j = 0; j < k; ++j) sum += static_cast<double>(x[r * k + j]) * w[j * n + c];
        y.data<float>()[(i * m + r) * n + c] = static_cast<float>(sum);
      }
    }
  }
  return y;
}

using MatMul = EveryIsa;

TEST_P(MatMul, PackedAndPlainMatchTheDefinition) {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1}, {1, 64, 48}, {3, 17, 33}, {9, 65, 16}, {33, 7, 130}}) {
    const Tensor a = random_f32({m, k}, -1, 1, 1), b = random_f32({k, n}, -1, 1, 2);
    SCOPED_TRACE(testing::Message() << m << "x" << k << "x" << n);
    for (const int width : {1, 3}) {
      expect_near(run_op("MatMul", {a, b}, {.cpu = &cpu(), .width = width}), defined(a, b), 1e-4f);
      expect_near(run_op("MatMul", {a, b}, {.constant_inputs = {1}, .cpu = &cpu(), .width = width}), defined(a, b),
                  1e-4f);
    }
  }
}

TEST_P(MatMul, BatchesAndSharedRight) {
  const Tensor a = random_f32({2, 3, 5, 7}), b = random_f32({2, 3, 7, 11}), shared = random_f32({7, 11});
  for (const int width : {1, 2}) {
    expect_near(run_op("MatMul", {a, b}, {.cpu = &cpu(), .width = width}), defined(a, b), 1e-4f);
    expect_near(run_op("MatMul", {a, shared}, {.constant_inputs = {1}, .cpu = &cpu(), .width = width}),
                defined(a, shared), 1e-4f);
  }
  // [3, 5, 7] against [2, 1, 7, 11]
  const Tensor left = random_f32({3, 5, 7}), right = random_f32({2, 1, 7, 11});
  const Tensor whole_left = run_op("Expand", {left, Tensor::of<int64_t>({4}, {2, 3, 5, 7})});
  const Tensor whole_right = run_op("Expand", {right, Tensor::of<int64_t>({4}, {2, 3, 7, 11})});
  expect_near(run_op("MatMul", {left, right}, {.cpu = &cpu()}), defined(whole_left, whole_right), 1e-4f);
}

TEST_P(MatMul, HalvesComputeInFloat) {
  const Tensor a = cast_from_f32(random_f32({5, 37}), DType::f16), b = cast_from_f32(random_f32({37, 19}), DType::f16);
  for (const std::set<int>& constant : {std::set<int>{}, {1}}) {
    const Tensor y = run_op("MatMul", {a, b}, {.constant_inputs = constant, .cpu = &cpu()});
    EXPECT_EQ(y.dtype(), DType::f16);
    expect_near(to_f32(y), defined(to_f32(a), to_f32(b)), 2e-3f);
  }
}

TEST_P(MatMul, ARowDependsOnItselfAlone) {
  const Tensor a = random_f32({6, 129}), b = random_f32({129, 70});
  const Tensor all = run_op("MatMul", {a, b}, {.constant_inputs = {1}, .cpu = &cpu(), .width = 2});
  for (int64_t r = 0; r < 6; ++r) {
    Tensor row = Tensor::of<float>({1, 129}, std::span<const float>(a.data<float>() + r * 129, 129));
    const Tensor one = run_op("MatMul", {row, b}, {.constant_inputs = {1}, .cpu = &cpu()});
    expect_equal(one, Tensor::of<float>({1, 70}, std::span<const float>(all.data<float>() + r * 70, 70)));
  }
}
INSTANTIATE_EVERY_ISA(MatMul);

TEST(MatMulRules, VectorsAndEmpties) {
  const Tensor v = Tensor::of<float>({2}, {1, 2}), m = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  expect_equal(run_op("MatMul", {v, v}), Tensor::of<float>({}, {5}));
  expect_equal(run_op("MatMul", {v, m}), Tensor::of<float>({2}, {7, 10}));
  expect_equal(run_op("MatMul", {m, v}), Tensor::of<float>({2}, {5, 11}));
  expect_equal(run_op("MatMul", {Tensor::zeros(DType::f32, {2, 0}), Tensor::zeros(DType::f32, {0, 3})}),
               Tensor::zeros(DType::f32, {2, 3}));
  EXPECT_EQ(run_op("MatMul", {Tensor::zeros(DType::f32, {0, 2}), m}).count(), 0);
}

TEST(MatMulRules, IntegersAndDoubles) {
  expect_equal(run_op("MatMul", {Tensor::of<int32_t>({1, 2}, {1 << 30, 3}), Tensor::of<int32_t>({2, 1}, {4, 5})}),
               Tensor::of<int32_t>({1, 1}, {15}));
  expect_equal(run_op("MatMul", {Tensor::of<double>({1, 2}, {1e-9, 1}), Tensor::of<double>({2, 1}, {1, 1})}),
               Tensor::of<double>({1, 1}, {1 + 1e-9}));
}

TEST(MatMulRules, FollowsSymbols) {
  const Dim b = Dim::symbol("B"), s = Dim::symbol("S");
  EXPECT_EQ(infer_op("MatMul", {{DType::f32, SymShape{b, s, 64}, {}}, {DType::f32, SymShape{64, 9}, {}}})[0].text(),
            "f32[B, S, 9]");
}

TEST(MatMulRules, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 1 has shape [4, 2], expected 3 rows as input 0 has shape [2, 3]",
               [] { run_op("MatMul", {random_f32({2, 3}), random_f32({4, 2})}); });
  expect_error(Code::invalid_argument, "a scalar has no matrix product",
               [] { run_op("MatMul", {random_f32({}), random_f32({4, 2})}); });
}

TEST(MatMulRules, TheLedgerShowsTheRoute) {
  gates::dispatch_ledger().enable();
  ledger().reset();
  run_op("MatMul", {random_f32({1, 8}), random_f32({8, 8})}, {.constant_inputs = {1}});
  EXPECT_TRUE(ledger().saw("MatMul", "scalar", "packed f32"));
  EXPECT_FALSE(ledger().saw("MatMul", "scalar", "plain"));
}

}  // namespace
}  // namespace nxrt::test
