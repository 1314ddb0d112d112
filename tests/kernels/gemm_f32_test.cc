// f32 matrix products: against double, and the promise that a row's result depends on that row alone.
#include "kernels/buffers.h"
#include "kernels/pack.h"

namespace nxrt {
namespace {

struct Problem {
  int64_t m, n, k;
  std::vector<float> a, b;  // a [m, k]; b [k, n], or [n, k] when transposed
  bool transposed;

  Problem(int64_t m_, int64_t n_, int64_t k_, bool transposed_)
      : m(m_),
        n(n_),
        k(k_),
        a(random_floats(m * k, -1, 1, 1)),
        b(random_floats(k * n, -1, 1, 2)),
        transposed(transposed_) {}

  int64_t ldb() const { return transposed ? k : n; }

  testing::AssertionResult matches(const std::vector<float>& c) const {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double expected = 0, size = 0;
        for (int64_t x = 0; x < k; ++x) {
          const double term = static_cast<double>(a[i * k + x]) * (transposed ? b[j * k + x] : b[x * n + j]);
          expected += term;
          size += std::fabs(term);
        }
        if (auto ok = near(c[i * n + j], expected, 0, 1e-6 * size); !ok) return ok << " at " << i << ", " << j;
      }
    }
    return testing::AssertionSuccess();
  }
};

class GemmF32 : public test::EveryIsa {
 protected:
  std::vector<float> packed(const Problem& p, int64_t first_row, int64_t rows) {
    Workers workers(1);
    const PackedFloats w = pack_floats({p.b.data(), DType::f32, p.n, p.k, p.ldb(), p.transposed}, workers);
    Buffer<float> c(rows * p.n);
    cpu().gemm_f32(p.a.data() + first_row * p.k, p.k, rows, w, 0, w.panels(), c.data(), p.n);
    EXPECT_TRUE(c.guards_hold());
    return c.values();
  }
  std::vector<float> plain(const Problem& p, int64_t first_row, int64_t rows) {
    Buffer<float> c(rows * p.n);
    const Buffer<float> b(p.b);
    cpu().gemm_f32_plain(p.a.data() + first_row * p.k, p.k, b.data(), p.ldb(), p.transposed, c.data(), p.n, rows, p.n,
                         p.k);
    EXPECT_TRUE(c.guards_hold());
    return c.values();
  }
  template <class F>
  void each_problem(F&& body) {
    for (const auto& [m, n, k] :
         {std::tuple{1, 1, 1}, {3, 16, 7}, {13, 33, 40}, {7, 70, 257}, {2, 129, 600}, {19, 5, 300}}) {
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(testing::Message() << m << "×" << n << "×" << k << (transposed ? " transposed" : ""));
        body(Problem(m, n, k, transposed));
      }
    }
  }
};

TEST_P(GemmF32, GivesTheProduct) {
  each_problem([&](const Problem& p) {
    ASSERT_TRUE(p.matches(packed(p, 0, p.m)));
    ASSERT_TRUE(p.matches(plain(p, 0, p.m)));
  });
}

TEST_P(GemmF32, ARowDependsOnThatRowAlone) {
  each_problem([&](const Problem& p) {
    const std::vector<float> c = packed(p, 0, p.m), d = plain(p, 0, p.m);
    for (int64_t i = 0; i < p.m; ++i) {
      const auto row = [&](const std::vector<float>& all) {
        return std::vector<float>(all.begin() + i * p.n, all.begin() + (i + 1) * p.n);
      };
      ASSERT_TRUE(same_bits(packed(p, i, 1), row(c))) << i;
      ASSERT_TRUE(same_bits(plain(p, i, 1), row(d))) << i;
    }
  });
}

TEST_P(GemmF32, PackedAndPlainAgreeBitForBit) {
  each_problem([&](const Problem& p) { ASSERT_TRUE(same_bits(packed(p, 0, p.m), plain(p, 0, p.m))); });
}

TEST_P(GemmF32, PanelSplitsDoNotChangeTheResult) {
  const Problem p(5, 90, 300, false);
  Workers workers(1);
  const PackedFloats w = pack_floats({p.b.data(), DType::f32, p.n, p.k, p.n}, workers);
  Buffer<float> c(p.m * p.n);
  for (int64_t i = 0; i < w.panels(); ++i) cpu().gemm_f32(p.a.data(), p.k, p.m, w, i, i + 1, c.data(), p.n);
  EXPECT_TRUE(same_bits(c.values(), packed(p, 0, p.m)));
}

TEST_P(GemmF32, WritesOnlyTheColumnsAskedFor) {
  const Problem p(3, 20, 9, false);
  Workers workers(1);
  const PackedFloats w = pack_floats({p.b.data(), DType::f32, p.n, p.k, p.n}, workers);
  std::vector<float> c(3 * 32, -7.0f);
  cpu().gemm_f32(p.a.data(), p.k, p.m, w, 1, 2, c.data(), 32);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 32; ++j) EXPECT_EQ(c[i * 32 + j] == -7.0f, j < 16 || j >= 20) << i << ", " << j;
  }
}

TEST_P(GemmF32, AnEmptySumIsZero) {
  const Problem p(2, 18, 0, false);
  EXPECT_EQ(packed(p, 0, 2), std::vector<float>(36, 0.0f));
  EXPECT_EQ(plain(p, 0, 2), std::vector<float>(36, 0.0f));
}

// Weights of a narrower type give what the same numbers in f32 give, bit for bit.
template <class T, class Narrow>
void expect_as_in_f32(const Kernels& cpu, DType dtype, const Problem& p, Narrow narrow) {
  std::vector<T> narrowed;
  std::vector<float> widened;
  for (const float x : p.b) {
    narrowed.push_back(narrow(x));
    widened.push_back(to_float(narrowed.back()));
  }
  Workers workers(1);
  const PackedFloats w = pack_floats({narrowed.data(), dtype, p.n, p.k, p.ldb(), p.transposed}, workers);
  const PackedFloats wide = pack_floats({widened.data(), DType::f32, p.n, p.k, p.ldb(), p.transposed}, workers);
  EXPECT_EQ(w.bytes() * 2, wide.bytes());
  Buffer<float> c(p.m * p.n), expected(p.m * p.n);
  cpu.gemm_f32(p.a.data(), p.k, p.m, w, 0, w.panels(), c.data(), p.n);
  cpu.gemm_f32(p.a.data(), p.k, p.m, wide, 0, wide.panels(), expected.data(), p.n);
  EXPECT_TRUE(c.guards_hold());
  ASSERT_TRUE(same_bits(c.values(), expected.values()));
}

TEST_P(GemmF32, HalfWeightsGiveWhatTheirValuesGiveInF32) {
  each_problem([&](Problem p) {
    p.b.front() = 65504.0f;  // f16's largest, and its smallest subnormal
    p.b.back() = 5.9604645e-8f;
    expect_as_in_f32<Half>(cpu(), DType::f16, p, [](float x) { return to_half(x); });
    expect_as_in_f32<BFloat16>(cpu(), DType::bf16, p, [](float x) { return to_bfloat16(x); });
  });
}

TEST_P(GemmF32, NaNAndInfiniteHalfWeightsReachTheirColumnsAlone) {
  constexpr int64_t n = 20, k = 3;
  std::vector<Half> b(n * k, to_half(1.0f));
  b[4] = to_half(NAN);
  b[17] = to_half(INFINITY);
  const std::vector<float> a(k, 1.0f);
  Workers workers(1);
  const PackedFloats w = pack_floats({b.data(), DType::f16, n, k, n}, workers);
  Buffer<float> c(n);
  cpu().gemm_f32(a.data(), k, 1, w, 0, w.panels(), c.data(), n);
  for (int64_t j = 0; j < n; ++j) {
    if (j == 4)
      EXPECT_TRUE(std::isnan(c.values()[j]));
    else
      EXPECT_EQ(c.values()[j], j == 17 ? INFINITY : 3.0f) << j;
  }
}

INSTANTIATE_EVERY_ISA(GemmF32);

}  // namespace
}  // namespace nxrt
