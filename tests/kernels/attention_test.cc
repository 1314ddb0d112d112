// `attend` over spans against softmax(q·Kᵀ)·V in double.
#include "kernels/buffers.h"

namespace nxrt {
namespace {

struct Attention {
  int heads, tokens;
  int64_t dim, stride;
  std::vector<float> q, k, v;  // q [heads, dim]; k, v [tokens, stride], the first dim used
  float scale = 0.2f, softcap = 0.0f;

  Attention(int heads_, int tokens_, int64_t dim_)
      : heads(heads_),
        tokens(tokens_),
        dim(dim_),
        stride(dim + 3),
        q(random_floats(heads * dim, -1, 1, 1)),
        k(random_floats(tokens * stride, -1, 1, 2)),
        v(random_floats(tokens * stride, -1, 1, 3)) {
    // Values that f16 holds, so that both element types see the same numbers.
    for (float& x : k) x = to_float(to_half(x));
    for (float& x : v) x = to_float(to_half(x));
  }

  std::vector<double> exact() const {
    std::vector<double> out;
    for (int h = 0; h < heads; ++h) {
      std::vector<double> weights;
      double top = -kInf, sum = 0;
      for (int t = 0; t < tokens; ++t) {
        double s = 0;
        for (int64_t i = 0; i < dim; ++i) s += static_cast<double>(q[h * dim + i]) * k[t * stride + i];
        s *= scale;
        if (softcap > 0) s = softcap * std::tanh(s / softcap);
        weights.push_back(s);
        top = std::fmax(top, s);
      }
      for (double& w : weights) sum += w = std::exp(w - top);
      for (int64_t i = 0; i < dim; ++i) {
        double total = 0;
        for (int t = 0; t < tokens; ++t) total += weights[t] * v[t * stride + i];
        out.push_back(total / sum);
      }
    }
    return out;
  }

  // Heads [first, first + count), in spans of `step` tokens.
  std::vector<float> run(const Kernels& cpu, bool half, int first, int count, int step) const {
    std::vector<Half> k16, v16;
    for (const float x : k) k16.push_back(to_half(x));
    for (const float x : v) v16.push_back(to_half(x));
    std::vector<const void*> k_rows, v_rows;
    for (int64_t at = 0; at < tokens * stride; at += stride) {
      k_rows.push_back(half ? static_cast<const void*>(&k16[at]) : &k[at]);
      v_rows.push_back(half ? static_cast<const void*>(&v16[at]) : &v[at]);
    }
    Buffer<float> out(std::vector<float>(count * dim, 0.0f));
    std::vector<AttentionState> state(count);
    for (int t = 0; t < tokens; t += step) {
      const int left = tokens - t, next = std::min(step, std::max(0, left - step));
      const AttentionTokens some{&k_rows[t],        &v_rows[t],        std::min(step, left),
                                 &k_rows[t] + step, &v_rows[t] + step, next};
      (half ? cpu.attend_f16 : cpu.attend_f32)(q.data() + first * dim, dim, count, some, dim, scale, softcap,
                                               state.data(), out.data(), dim);
    }
    EXPECT_TRUE(out.guards_hold());
    std::vector<float> result = out.values();
    for (int h = 0; h < count; ++h) {
      for (int64_t i = 0; i < dim; ++i) result[h * dim + i] /= state[h].sum;
    }
    return result;
  }
};

class Attend : public test::EveryIsa {};

TEST_P(Attend, IsSoftmaxTimesValuesForEverySpan) {
  for (const int64_t dim : {1, 7, 16, 64, 80, 128, 133}) {
    for (const int tokens : {1, 3, 16, 65, 200}) {
      for (const float softcap : {0.0f, 2.0f}) {
        Attention a(5, tokens, dim);
        a.softcap = softcap;
        const std::vector<double> exact = a.exact();
        for (const int step : {16, 64, 1000}) {
          SCOPED_TRACE(testing::Message() << "dim " << dim << ", tokens " << tokens << ", step " << step);
          ASSERT_TRUE(all_near(a.run(cpu(), false, 0, 5, step), exact, 0, 2e-6));
          ASSERT_TRUE(all_near(a.run(cpu(), true, 0, 5, step), exact, 0, 2e-6));
        }
      }
    }
  }
}

TEST_P(Attend, AHeadDependsOnThatHeadAlone) {
  const Attention a(7, 90, 64);
  for (const bool half : {false, true}) {
    const std::vector<float> together = a.run(cpu(), half, 0, 7, 16);
    for (int h = 0; h < 7; ++h) {
      ASSERT_TRUE(same_bits(a.run(cpu(), half, h, 1, 16), {together.begin() + h * 64, together.begin() + (h + 1) * 64}))
          << h;
    }
  }
}

TEST_P(Attend, SurvivesScoresFarApart) {
  Attention a(3, 100, 32);
  a.scale = 300.0f;
  EXPECT_TRUE(all_near(a.run(cpu(), false, 0, 3, 16), a.exact(), 0, 5e-4));  // e^x magnifies the rounding of x ≈ 1000
}

TEST_P(Attend, MinusInfinityHasNoWeightAndNanSpreads) {
  Attention a(1, 40, 16);
  std::fill(a.q.begin(), a.q.end(), 1.0f);
  for (const int t : {0, 5, 39}) a.k[t * a.stride] = -kInf;
  a.k[7 * a.stride] = 2.0f;
  EXPECT_TRUE(all_near(a.run(cpu(), false, 0, 1, 16), a.exact(), 0, 2e-6));
  for (int t = 0; t < 16; ++t) a.k[t * a.stride] = -kInf;  // a whole span
  EXPECT_TRUE(all_near(a.run(cpu(), false, 0, 1, 16), a.exact(), 0, 2e-6));
  a.k[20 * a.stride] = kNan;
  EXPECT_TRUE(same_bits(a.run(cpu(), false, 0, 1, 16), std::vector<float>(16, kNan)));
}

INSTANTIATE_EVERY_ISA(Attend);

}  // namespace
}  // namespace nxrt
