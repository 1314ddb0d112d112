#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

struct Form {
  bool ta, tb;
  float alpha, beta;
};

Tensor defined(const Tensor& a, const Tensor& b, const Tensor& c, const Form& f) {
  const int64_t m = a.shape()[f.ta ? 1 : 0], k = a.shape()[f.ta ? 0 : 1], n = b.shape()[f.tb ? 0 : 1];
  Tensor y = Tensor::zeros(DType::f32, {m, n});
  const Tensor bias = c ? run_op("Expand", {c, Tensor::of<int64_t>({2}, {m, n})}) : Tensor::zeros(DType::f32, {m, n});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += static_cast<double>(a.data<float>()[f.ta ? p * m + i : i * k + p]) *
               b.data<float>()[f.tb ? j * k + p : p * n + j];
      }
      y.data<float>()[i * n + j] =
          static_cast<float>(sum * f.alpha + static_cast<double>(bias.data<float>()[i * n + j]) * f.beta);
    }
  }
  return y;
}

OpRun how(const Form& f) {
  return {.attributes = {{"transA", int64_t{f.ta}}, {"transB", int64_t{f.tb}}, {"alpha", f.alpha}, {"beta", f.beta}}};
}

using Gemm = EveryIsa;

TEST_P(Gemm, EveryFormMatchesTheDefinition) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const Form f{ta, tb, ta ? 0.5f : 1.0f, tb ? 2.0f : 1.0f};
      const Tensor a = ta ? random_f32({19, 5}) : random_f32({5, 19});
      const Tensor b = tb ? random_f32({33, 19}) : random_f32({19, 33});
      for (const Tensor& c : {Tensor(), random_f32({33}), random_f32({5, 1}), random_f32({5, 33}), random_f32({})}) {
        for (const std::set<int>& constant : {std::set<int>{}, {1}}) {
          OpRun run = how(f);
          run.cpu = &cpu();
          run.width = 2;
          run.constant_inputs = constant;
          std::vector<Tensor> inputs{a, b};
          if (c) inputs.push_back(c);
          expect_near(run_op("Gemm", inputs, run), defined(a, b, c, f), 1e-4f);
        }
      }
    }
  }
}

TEST_P(Gemm, Halves) {
  const Form f{true, false, 1, 1};
  const Tensor a = cast_from_f32(random_f32({9, 5}), DType::bf16), b = cast_from_f32(random_f32({9, 7}), DType::bf16);
  const Tensor c = cast_from_f32(random_f32({7}), DType::bf16);
  OpRun run = how(f);
  run.cpu = &cpu();
  expect_near(to_f32(run_op("Gemm", {a, b, c}, run)), defined(to_f32(a), to_f32(b), to_f32(c), f), 1e-2f);
}
INSTANTIATE_EVERY_ISA(Gemm);

TEST(GemmRules, IntegersAndDoubles) {
  const Form f{false, true, 2, 1};
  expect_equal(
      run_op("Gemm",
             {Tensor::of<int32_t>({1, 2}, {1, 2}), Tensor::of<int32_t>({1, 2}, {3, 4}), Tensor::of<int32_t>({1}, {5})},
             how(f)),
      Tensor::of<int32_t>({1, 1}, {27}));
  expect_equal(run_op("Gemm", {Tensor::of<double>({1, 2}, {1, 2}), Tensor::of<double>({1, 2}, {3, 4})}, how(f)),
               Tensor::of<double>({1, 1}, {22}));
}

TEST(GemmRules, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "the inner dims 3 and 4 differ",
               [] { run_op("Gemm", {random_f32({2, 3}), random_f32({4, 2})}); });
  expect_error(Code::invalid_argument, "input 2 has shape [5, 2], which does not broadcast to [1, 2]",
               [] { run_op("Gemm", {random_f32({1, 3}), random_f32({3, 2}), random_f32({5, 2})}); });
  expect_error(Code::invalid_argument, "input 0 has shape [2], expected rank 2",
               [] { run_op("Gemm", {random_f32({2}), random_f32({3, 2})}); });
}

}  // namespace
}  // namespace nxrt::test
