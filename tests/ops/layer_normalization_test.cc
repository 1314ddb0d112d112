#include <cmath>

#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

struct Expected {
  Tensor y, mean, inverse;
};

Expected defined(const Tensor& x, const Tensor& scale, const Tensor& bias, int64_t cols, bool centered) {
  const int64_t rows = x.count() / cols;
  Expected e{Tensor::zeros(DType::f32, x.shape()), Tensor::zeros(DType::f32, {rows, 1}),
             Tensor::zeros(DType::f32, {rows, 1})};
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x.data<float>() + r * cols;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < cols && centered; ++i) mean += row[i] / static_cast<double>(cols);
    for (int64_t i = 0; i < cols; ++i) variance += (row[i] - mean) * (row[i] - mean) / static_cast<double>(cols);
    const double inverse = 1 / std::sqrt(variance + 1e-5);
    e.mean.data<float>()[r] = static_cast<float>(mean);
    e.inverse.data<float>()[r] = static_cast<float>(inverse);
    for (int64_t i = 0; i < cols; ++i) {
      const double y = (row[i] - mean) * inverse * scale.data<float>()[i] + (bias ? bias.data<float>()[i] : 0.0f);
      e.y.data<float>()[r * cols + i] = static_cast<float>(y);
    }
  }
  return e;
}

using LayerNormalization = EveryIsa;

TEST_P(LayerNormalization, MatchesTheDefinition) {
  for (const int64_t cols : {1, 7, 8, 33, 515}) {
    const Tensor x = random_f32({3, cols}), scale = random_f32({cols}, 0.5f, 2, 7), bias = random_f32({cols}, -1, 1, 9);
    const Expected e = defined(x, scale, bias, cols, true);
    expect_near(run_op("LayerNormalization", {x, scale, bias}, {.cpu = &cpu(), .width = 2}), e.y, 2e-5f);
    expect_near(run_op("LayerNormalization", {x, scale}, {.cpu = &cpu()}), defined(x, scale, Tensor(), cols, true).y,
                2e-5f);
    expect_near(run_op("RMSNormalization", {x, scale}, {.cpu = &cpu()}), defined(x, scale, Tensor(), cols, false).y,
                2e-5f);
    const auto all = run_op_outputs("LayerNormalization", {x, scale, bias}, {.outputs = 3, .cpu = &cpu()});
    expect_near(all[0], e.y, 2e-5f);
    expect_near(all[1], e.mean, 1e-5f);
    expect_near(all[2], e.inverse, 1e-4f);
  }
}
INSTANTIATE_EVERY_ISA(LayerNormalization);

TEST(LayerNormalizationRules, SeveralAxesHalvesAndBroadcastScales) {
  const Tensor x = random_f32({2, 3, 5});
  const OpRun from_one{.attributes = {{"axis", int64_t{1}}}};
  const Tensor scale = random_f32({3, 5}), flat = scale.reshaped({15});
  expect_near(run_op("LayerNormalization", {x, scale}, from_one), defined(x, flat, Tensor(), 15, true).y, 2e-5f);
  const Tensor one = random_f32({1});
  const Tensor spread = run_op("Expand", {one, Tensor::of<int64_t>({1}, {15})});
  expect_near(run_op("LayerNormalization", {x, one}, from_one), defined(x, spread, Tensor(), 15, true).y, 2e-5f);
  const Tensor h = cast_from_f32(x, DType::f16), hs = cast_from_f32(random_f32({5}), DType::f16);
  expect_near(to_f32(run_op("RMSNormalization", {h, hs})), defined(to_f32(h), to_f32(hs), Tensor(), 5, false).y, 2e-3f);
}

TEST(LayerNormalizationRules, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "do not broadcast",
               [] { run_op("LayerNormalization", {random_f32({2, 8}), random_f32({7})}); });
  expect_error(Code::invalid_argument, "attribute 'axis' is 5", [] {
    run_op("LayerNormalization", {random_f32({2, 8}), random_f32({8})}, {.attributes = {{"axis", int64_t{5}}}});
  });
}

}  // namespace
}  // namespace nxrt::test
