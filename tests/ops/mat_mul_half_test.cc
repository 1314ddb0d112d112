#include "base/dispatch_ledger.h"
#include "base/process_gate.h"
#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

OpRun options(const Kernels& cpu, bool transposed, int width = 1) {
  OpRun options{.domain = "nxrt", .constant_inputs = {1}, .cpu = &cpu, .width = width};
  if (transposed) options.attributes["transB"] = int64_t{1};
  return options;
}

// y[r, c] = Σ a[r, j] · w[j, c], in double; w as [k, n], or [n, k] when transposed.
Tensor defined(const Tensor& a, const Tensor& w, bool transposed) {
  const Tensor floats = to_f32(w);
  const int64_t k = w.shape()[transposed ? 1 : 0], n = w.shape()[transposed ? 0 : 1], rows = a.count() / k;
  Tensor y = Tensor::zeros(DType::f32, a.shape().with(a.shape().rank() - 1, n));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        sum +=
            static_cast<double>(a.data<float>()[r * k + j]) * floats.data<float>()[transposed ? c * k + j : j * n + c];
      }
      y.data<float>()[r * n + c] = static_cast<float>(sum);
    }
  }
  return y;
}

using MatMulHalf = EveryIsa;

TEST_P(MatMulHalf, MatchesTheDefinition) {
  for (const auto& [m, k, n] :
       {std::array<int64_t, 3>{1, 1, 1}, {1, 64, 48}, {3, 17, 33}, {9, 300, 16}, {33, 7, 130}}) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(testing::Message() << m << "x" << k << "x" << n << name_of(dtype) << transposed);
        const Tensor a = random_f32({m, k}, -1, 1, 1);
        const Tensor w = cast_from_f32(transposed ? random_f32({n, k}, -1, 1, 2) : random_f32({k, n}, -1, 1, 2), dtype);
        for (const int width : {1, 3}) {
          expect_near(run_op("MatMulHalf", {a, w}, options(cpu(), transposed, width)), defined(a, w, transposed),
                      1e-4f);
        }
      }
    }
  }
}

TEST_P(MatMulHalf, LeadingAxesAreRowsAndARowDependsOnItselfAlone) {
  const Tensor a = random_f32({2, 3, 65}), w = cast_from_f32(random_f32({65, 40}), DType::f16);
  const Tensor all = run_op("MatMulHalf", {a, w}, options(cpu(), false, 2));
  EXPECT_EQ(all.shape(), Shape({2, 3, 40}));
  for (int64_t r = 0; r < 6; ++r) {
    const Tensor row = Tensor::of<float>({1, 65}, std::span<const float>(a.data<float>() + r * 65, 65));
    expect_equal(run_op("MatMulHalf", {row, w}, options(cpu(), false)),
                 Tensor::of<float>({1, 40}, std::span<const float>(all.data<float>() + r * 40, 40)));
  }
}

TEST_P(MatMulHalf, TheLedgerTellsThatTheWeightsStayedNarrow) {
  ledger().reset();
  gates::dispatch_ledger().enable();
  for (const DType dtype : {DType::f16, DType::bf16}) {
    run_op("MatMulHalf", {random_f32({1, 8}), cast_from_f32(random_f32({8, 16}), dtype)}, options(cpu(), false));
  }
  EXPECT_TRUE(ledger().saw("MatMulHalf", name_of(GetParam()), "packed f16"));
  EXPECT_TRUE(ledger().saw("MatMulHalf", name_of(GetParam()), "packed bf16"));
}

INSTANTIATE_EVERY_ISA(MatMulHalf);

TEST(MatMulHalfRules, RefusesWhatItCannotKeep) {
  const Tensor a = random_f32({2, 4}), w = cast_from_f32(random_f32({4, 3}), DType::f16);
  const OpRun constant{.domain = "nxrt", .constant_inputs = {1}};
  expect_error(Code::invalid_argument, "f16", [&] { run_op("MatMulHalf", {a, random_f32({4, 3})}, constant); });
  expect_error(Code::unsupported, "constant", [&] { run_op("MatMulHalf", {a, w}, {.domain = "nxrt"}); });
  expect_error(Code::invalid_argument, "[4, 3]", [&] { run_op("MatMulHalf", {random_f32({2, 5}), w}, constant); });
}

}  // namespace
}  // namespace nxrt::test
