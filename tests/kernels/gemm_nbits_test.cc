// Products with 4- and 8-bit weights: against the operator's specification in double, and exactly against the
// definition.
#include <tuple>

#include "kernels/buffers.h"
#include "kernels/nbits_source.h"
#include "kernels/pack.h"

namespace nxrt {
namespace {

struct Quantized {  // storage of QuantizedRows
  std::vector<int8_t> q;
  std::vector<float> scales;
  std::vector<float> sums;
  int64_t rows, k, block;
  QuantizedRows rows_from(int64_t first, int64_t count) const {
    const int64_t blocks = (k + block - 1) / block;
    return {q.data() + first * blocks * block,
            scales.data() + first * blocks,
            sums.data() + first * blocks,
            count,
            k,
            block};
  }
};

Quantized quantize(const Kernels& cpu, const std::vector<float>& a, int64_t rows, int64_t k, int64_t block) {
  const int64_t blocks = (k + block - 1) / block;
  Quantized x{std::vector<int8_t>(rows * blocks * block),
              std::vector<float>(rows * blocks),
              std::vector<float>(rows * blocks),
              rows,
              k,
              block};
  for (int64_t i = 0; i < rows; ++i) {
    cpu.quantize_row(a.data() + i * k, k, block, x.q.data() + i * blocks * block, x.scales.data() + i * blocks,
                     x.sums.data() + i * blocks, nullptr);
  }
  return x;
}

std::vector<float> q8(const Kernels& cpu, const QuantizedRows& x, const PackedNBits& w) {
  Buffer<float> c(x.rows * w.n);
  cpu.gemm_nbits_q8(x, w, 0, w.panels(), c.data(), w.n);
  EXPECT_TRUE(c.guards_hold());
  return c.values();
}

std::vector<float> f32(const Kernels& cpu, const float* a, int64_t m, const PackedNBits& w) {
  Buffer<float> c(m * w.n);
  cpu.gemm_nbits_f32(a, w.k, m, w, 0, w.panels(), c.data(), w.n);
  EXPECT_TRUE(c.guards_hold());
  return c.values();
}

struct Shape {
  int bits;
  int64_t block, n, k;
};
constexpr Shape kShapes[] = {{4, 16, 5, 48},   {4, 32, 33, 96}, {4, 32, 16, 70}, {4, 64, 40, 129}, {4, 128, 17, 256},
                             {4, 256, 3, 300}, {8, 16, 18, 47}, {8, 32, 35, 96}, {8, 64, 16, 64},  {8, 128, 50, 257}};
constexpr Zeros kZeros[] = {Zeros::none, Zeros::packed, Zeros::whole_floats, Zeros::floats};

class GemmNBits : public EveryIsa {
 protected:
  template <class F>
  void each_case(F&& body) {
    uint32_t seed = 1;
    for (const Shape& s : kShapes) {
      for (const Zeros zeros : kZeros) {
        for (const bool half : {true, false}) {
          SCOPED_TRACE(testing::Message() << s.bits << " bits, block " << s.block << ", n " << s.n << ", k " << s.k
                                          << ", zeros " << static_cast<int>(zeros) << ", half " << half);
          body(NBitsModel(s.bits, s.block, s.n, s.k, zeros, half, seed++));
        }
      }
    }
  }
  Workers workers_{1};
};

TEST_P(GemmNBits, FloatActivationsGiveTheSpecifiedProduct) {
  constexpr int64_t m = 3;
  each_case([&](const NBitsModel& model) {
    const PackedNBits w = pack_nbits(model.source(), workers_);
    const Buffer<float> a(random_floats(m * model.k, -1, 1, 5));
    const std::vector<float> c = f32(cpu(), a.data(), m, w);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < model.n; ++j) {
        double expected = 0.0, magnitude = 0.0;
        for (int64_t x = 0; x < model.k; ++x) {
          const double term = a.data()[i * model.k + x] * model.value(j, x);
          expected += term;
          magnitude += std::fabs(term);
        }
        ASSERT_TRUE(near(c[i * model.n + j], expected, 0.0, 1e-6 * magnitude + 1e-6)) << i << ", " << j;
      }
    }
  });
}

TEST_P(GemmNBits, Int8ActivationsGiveTheProductOfTheQuantizedValues) {
  constexpr int64_t m = 2;
  each_case([&](const NBitsModel& model) {
    const PackedNBits w = pack_nbits(model.source(), workers_);
    const Quantized x = quantize(cpu(), random_floats(m * model.k, -1, 1, 6), m, model.k, model.block);
    const std::vector<float> c = q8(cpu(), x.rows_from(0, m), w);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < model.n; ++j) {
        double expected = 0.0, magnitude = 0.0;
        for (int64_t e = 0; e < model.k; ++e) {
          const int64_t at = i * model.blocks() * model.block + e;
          const double term = static_cast<double>(x.scales[at / model.block]) * x.q[at] * model.value(j, e);
          expected += term;
          magnitude += std::fabs(term);
        }
        ASSERT_TRUE(near(c[i * model.n + j], expected, 0.0, 2e-6 * magnitude + 1e-5)) << i << ", " << j;
      }
    }
  });
}

TEST_P(GemmNBits, Int8ActivationsMatchTheDefinitionBitForBit) {
  each_case([&](const NBitsModel& model) {
    const PackedNBits w = pack_nbits(model.source(), workers_);
    const Quantized x = quantize(definition(), random_floats(11 * model.k, -9, 9, 7), 11, model.k, model.block);
    ASSERT_TRUE(same_bits(q8(cpu(), x.rows_from(0, 11), w), q8(definition(), x.rows_from(0, 11), w)));
  });
}

TEST_P(GemmNBits, ARowDependsOnThatRowAlone) {
  constexpr int64_t m = 19;
  each_case([&](const NBitsModel& model) {
    const PackedNBits w = pack_nbits(model.source(), workers_);
    const std::vector<float> a = random_floats(m * model.k, -1, 1, 8);
    const Quantized x = quantize(cpu(), a, m, model.k, model.block);
    const std::vector<float> all_q8 = q8(cpu(), x.rows_from(0, m), w), all_f32 = f32(cpu(), a.data(), m, w);
    for (int64_t i = 0; i < m; ++i) {
      const auto row = [&](const std::vector<float>& all) {
        return std::vector<float>(all.begin() + i * model.n, all.begin() + (i + 1) * model.n);
      };
      ASSERT_TRUE(same_bits(q8(cpu(), x.rows_from(i, 1), w), row(all_q8))) << i;
      ASSERT_TRUE(same_bits(f32(cpu(), a.data() + i * model.k, 1, w), row(all_f32))) << i;
    }
  });
}

TEST_P(GemmNBits, PanelSplitsDoNotChangeTheResult) {
  constexpr int64_t m = 5;
  const NBitsModel model(4, 32, 75, 160, Zeros::packed, true, 9);
  const PackedNBits w = pack_nbits(model.source(), workers_);
  const std::vector<float> a = random_floats(m * model.k, -1, 1, 8);
  const Quantized x = quantize(cpu(), a, m, model.k, model.block);
  Buffer<float> parts_q8(m * w.n), parts_f32(m * w.n);
  for (int64_t p = 0; p < w.panels(); ++p) {
    cpu().gemm_nbits_q8(x.rows_from(0, m), w, p, p + 1, parts_q8.data(), w.n);
    cpu().gemm_nbits_f32(a.data(), w.k, m, w, p, p + 1, parts_f32.data(), w.n);
  }
  EXPECT_TRUE(same_bits(parts_q8.values(), q8(cpu(), x.rows_from(0, m), w)));
  EXPECT_TRUE(same_bits(parts_f32.values(), f32(cpu(), a.data(), m, w)));
}

TEST_P(GemmNBits, ExtremeWeightsAndActivationsDoNotSaturate) {
  for (const int bits : {4, 8}) {
    NBitsModel model(bits, 128, 16, 256, Zeros::none, true, 3);
    std::fill(model.q.begin(), model.q.end(), uint8_t{0xff});
    const PackedNBits w = pack_nbits(model.source(), workers_);
    for (const float sign : {1.0f, -1.0f}) {
      const Quantized x = quantize(cpu(), std::vector<float>(256, sign * 3.0f), 1, 256, 128);
      EXPECT_TRUE(same_bits(q8(cpu(), x.rows_from(0, 1), w), q8(definition(), x.rows_from(0, 1), w))) << bits;
    }
  }
}

INSTANTIATE_EVERY_ISA(GemmNBits);

class QuantizeRow : public EveryIsa {};

TEST_P(QuantizeRow, MatchesTheDefinitionBitForBit) {
  std::vector<float> x = random_floats(1000, -4, 4, 1);
  x[5] = 0.5f, x[40] = kInf, x[70] = kNan, x[100] = -0.0f;
  std::fill(x.begin() + 128, x.begin() + 256, 0.0f);
  std::fill(x.begin() + 256, x.begin() + 384, 1e-42f);  // the inverse scale overflows
  for (int i = 384; i < 512; ++i) x[i] = i == 384 ? 127.0f : static_cast<float>(i % 100) + 0.5f;  // halves round away
  for (int i = 385; i < 512; i += 2) x[i] = -x[i];
  x[600] = 3e38f;
  for (const int64_t block : {16, 32, 64, 128, 256}) {
    for (const int64_t k : {1, 15, 16, 17, 31, 100, 129, 1000}) {
      SCOPED_TRACE(testing::Message() << "block " << block << ", k " << k);
      const int64_t blocks = (k + block - 1) / block;
      Buffer<int8_t> q(blocks * block), q_expected(blocks * block);
      Buffer<float> scales(blocks), scales_expected(blocks);
      Buffer<float> sums(blocks), sums_expected(blocks), rest(k), rest_expected(k);
      const Buffer<float> input(std::vector<float>(x.end() - k, x.end()));
      for (const float* from : {input.data(), static_cast<const float*>(x.data())}) {
        cpu().quantize_row(from, k, block, q.data(), scales.data(), sums.data(), rest.data());
        definition().quantize_row(from, k, block, q_expected.data(), scales_expected.data(), sums_expected.data(),
                                  rest_expected.data());
        ASSERT_EQ(q.values(), q_expected.values());
        ASSERT_TRUE(same_bits(scales.values(), scales_expected.values()));
        ASSERT_EQ(sums.values(), sums_expected.values());
        ASSERT_TRUE(same_bits(rest.values(), rest_expected.values()));
        ASSERT_TRUE(q.guards_hold() && scales.guards_hold() && sums.guards_hold() && rest.guards_hold());
      }
    }
  }
}

TEST_P(QuantizeRow, StaysWithinHalfAStep) {
  const std::vector<float> x = random_floats(320, -2, 2, 4);
  const Quantized y = quantize(cpu(), x, 1, 320, 32);
  for (int i = 0; i < 320; ++i) {
    ASSERT_NEAR(y.q[i] * y.scales[i / 32], x[i], y.scales[i / 32] * 0.5001f) << i;
  }
}

INSTANTIATE_EVERY_ISA(QuantizeRow);

}  // namespace
}  // namespace nxrt
