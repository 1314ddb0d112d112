// Row kernels against their definitions in double.
#include "kernels/buffers.h"

namespace nxrt {
namespace {

class RowKernels : public test::EveryIsa {};

std::vector<double> doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }

TEST_P(RowKernels, Reduce) {
  for (const int64_t n : kLengths) {
    SCOPED_TRACE(n);
    const Buffer<float> a(random_floats(n, -2, 2, 1)), b(random_floats(n, -2, 2, 2));
    double sum = 0, dot = 0, size = 0, max = -kInf;
    for (int64_t i = 0; i < n; ++i) {
      sum += a.data()[i];
      dot += static_cast<double>(a.data()[i]) * b.data()[i];
      size += std::fabs(a.data()[i]) * (1.0 + std::fabs(b.data()[i]));
      max = std::fmax(max, a.data()[i]);
    }
    EXPECT_TRUE(near(cpu().sum(a.data(), n), sum, 0, 5e-7 * size));
    EXPECT_TRUE(near(cpu().dot(a.data(), b.data(), n), dot, 0, 5e-7 * size));
    EXPECT_TRUE(near(cpu().max(a.data(), n), max, 0, 0));
  }
}

TEST_P(RowKernels, MaxSeesNanAndInfinitiesAnywhere) {
  for (const int64_t n : {1, 8, 17, 33}) {
    for (int64_t i = 0; i < n; ++i) {
      std::vector<float> x = random_floats(n, -9, -1, 3);
      x[i] = kNan;
      EXPECT_TRUE(std::isnan(cpu().max(x.data(), n))) << i << " of " << n;
      x[i] = kInf;
      EXPECT_EQ(cpu().max(x.data(), n), kInf);
    }
    const std::vector<float> lowest(n, -kInf);
    EXPECT_EQ(cpu().max(lowest.data(), n), -kInf);
  }
}

TEST_P(RowKernels, AxpyAdds) {
  for (const int64_t n : kLengths) {
    const Buffer<float> x(random_floats(n, -2, 2, 1));
    Buffer<float> y(random_floats(n, -2, 2, 2));
    std::vector<double> expected;
    for (int64_t i = 0; i < n; ++i) expected.push_back(y.data()[i] + 1.5 * x.data()[i]);
    cpu().axpy(1.5f, x.data(), y.data(), n);
    ASSERT_TRUE(all_near(y.values(), expected, 1e-6, 1e-6) && y.guards_hold()) << n;
  }
}

TEST_P(RowKernels, RmsNorm) {
  for (const int64_t n : kLengths) {
    if (n == 0) continue;
    const Buffer<float> x(random_floats(n, -2, 2, 1)), scale(random_floats(n, 0, 2, 2));
    double squares = 0;
    for (const float v : x.values()) squares += static_cast<double>(v) * v;
    std::vector<double> expected;
    for (int64_t i = 0; i < n; ++i) expected.push_back(x.data()[i] / std::sqrt(squares / n + 1e-5) * scale.data()[i]);
    Buffer<float> y(n), in_place(x.values());
    cpu().rms_norm(x.data(), scale.data(), y.data(), n, 1e-5f);
    cpu().rms_norm(in_place.data(), scale.data(), in_place.data(), n, 1e-5f);
    ASSERT_TRUE(all_near(y.values(), expected, 1e-6, 0)) << n;
    ASSERT_TRUE(same_bits(in_place.values(), y.values()) && y.guards_hold()) << n;
  }
}

TEST_P(RowKernels, LayerNorm) {
  for (const int64_t n : kLengths) {
    if (n == 0) continue;
    // A mean far from zero: the variance must not be taken as E[x²] − E[x]².
    const Buffer<float> x(random_floats(n, 99, 101, 1)), scale(random_floats(n, 0, 2, 2)),
        bias(random_floats(n, -1, 1, 3));
    double mean = 0, squares = 0;
    for (const float v : x.values()) mean += v / static_cast<double>(n);
    for (const float v : x.values()) squares += (v - mean) * (v - mean);
    for (const bool biased : {true, false}) {
      std::vector<double> expected;
      for (int64_t i = 0; i < n; ++i) {
        expected.push_back((x.data()[i] - mean) / std::sqrt(squares / n + 1e-5) * scale.data()[i] +
                           (biased ? bias.data()[i] : 0));
      }
      Buffer<float> y(n);
      cpu().layer_norm(x.data(), scale.data(), biased ? bias.data() : nullptr, y.data(), n, 1e-5f);
      ASSERT_TRUE(all_near(y.values(), expected, 1e-4, n == 1 ? 1e-2 : 1e-4) && y.guards_hold()) << n;
    }
  }
}

std::vector<double> softmax(const std::vector<float>& x) {
  double top = -kInf, total = 0;
  for (const float v : x) top = std::fmax(top, v);
  std::vector<double> y;
  for (const float v : x) total += y.emplace_back(std::exp(v - top));
  for (double& v : y) v /= total;
  return y;
}

TEST_P(RowKernels, Softmax) {
  for (const int64_t n : kLengths) {
    for (const float spread : {1.0f, 60.0f, 1e30f}) {
      Buffer<float> x(random_floats(n, -spread, spread, 4));
      if (n > 2) x.data()[n / 2] = -kInf;
      Buffer<float> y(n);
      cpu().softmax(x.data(), y.data(), n);
      ASSERT_TRUE(all_near(y.values(), softmax(x.values()), 5e-6, 1e-37)) << n;  // e^x is off by its argument's ulp
      cpu().softmax(x.data(), x.data(), n);
      ASSERT_TRUE(same_bits(x.values(), y.values()) && y.guards_hold()) << n;
    }
  }
}

TEST_P(RowKernels, SoftmaxOfAMaskedRowIsZeroAndNanSpreads) {
  for (const int64_t n : {1, 16, 35}) {
    std::vector<float> x(n, -kInf);
    Buffer<float> y(n);
    cpu().softmax(x.data(), y.data(), n);
    EXPECT_TRUE(same_bits(y.values(), std::vector<float>(n, 0.0f)));
    x.back() = kNan;
    cpu().softmax(x.data(), y.data(), n);
    EXPECT_TRUE(same_bits(y.values(), std::vector<float>(n, kNan)));
  }
}

TEST_P(RowKernels, RopeRotatesPairs) {
  for (const auto& [dim, rotary] : {std::pair{2, 2}, {64, 64}, {80, 32}, {96, 96}, {70, 34}, {5, 2}, {8, 0}}) {
    for (const bool interleaved : {false, true}) {
      SCOPED_TRACE(testing::Message() << dim << ", " << rotary << ", " << interleaved);
      const int half = rotary / 2;
      const Buffer<float> x(random_floats(dim, -2, 2, 5)), cos(random_floats(half, -1, 1, 6)),
          sin(random_floats(half, -1, 1, 7));
      std::vector<double> expected = doubles(x.values());
      for (int i = 0; i < half; ++i) {
        const int a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : i + half;
        const double c = cos.data()[i], s = sin.data()[i];
        expected[a] = x.data()[a] * c - x.data()[b] * s;
        expected[b] = x.data()[b] * c + x.data()[a] * s;
      }
      Buffer<float> y(dim), in_place(x.values());
      cpu().rope(x.data(), cos.data(), sin.data(), y.data(), dim, rotary, interleaved);
      cpu().rope(in_place.data(), cos.data(), sin.data(), in_place.data(), dim, rotary, interleaved);
      ASSERT_TRUE(all_near(y.values(), expected, 0, 1e-6) && y.guards_hold());
      ASSERT_TRUE(same_bits(in_place.values(), y.values()));
    }
  }
}

INSTANTIATE_EVERY_ISA(RowKernels);

}  // namespace
}  // namespace nxrt
