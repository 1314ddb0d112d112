#include "kernels/pack.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/half.h"
#include "kernels/nbits_source.h"

namespace nxrt {
namespace {

int packed_weight(const PackedNBits& w, int64_t row, int64_t i) {
  const uint8_t* block = w.block_data(row / 16, i / w.block);
  const int64_t in_block = i % w.block, byte = row % 16 * 4 + in_block % 4;
  if (w.bits == 8) return block[in_block / 4 * 64 + byte];
  const int pair = block[in_block / 8 * 64 + byte];
  return in_block / 4 % 2 == 0 ? pair & 15 : pair >> 4;
}

TEST(PackNBits, EveryWeightIsFoundWhereTheLayoutSays) {
  EXPECT_TRUE(rc::check([] {
    const int bits = *rc::gen::element(4, 8);
    const int64_t block = *rc::gen::element(16, 32, 64, 128, 256);
    const int64_t n = *rc::gen::inRange(1, 40), k = *rc::gen::inRange(1, 300);
    const NBitsModel model(bits, block, n, k, Zeros::packed, true, 7);
    Workers workers(1);
    const PackedNBits w = pack_nbits(model.source(), workers);
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t i = 0; i < k; ++i) RC_ASSERT(packed_weight(w, row, i) == model.quantized(row, i));
    }
    for (int64_t row = n; row < w.panels() * 16; ++row) RC_ASSERT(packed_weight(w, row, k - 1) == 0);
    RC_ASSERT(w.zeros == ZeroPoints::integers);
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t b = 0; b < w.blocks(); ++b) {
        const int64_t at = (row / 16 * w.blocks() + b) * 16 + row % 16;
        RC_ASSERT(std::to_integer<int>(w.offsets[at]) == static_cast<int>(model.zero_point(row, b)));
      }
    }
  }));
}

PackedNBits pack(const NBitsModel& model) {
  Workers workers(1);
  return pack_nbits(model.source(), workers);
}

TEST(PackNBits, StoresHalvesOnlyWhenTheyLoseNothing) {
  EXPECT_TRUE(pack(NBitsModel(4, 32, 20, 64, Zeros::none, true, 1)).half_scales);
  EXPECT_FALSE(pack(NBitsModel(4, 32, 20, 64, Zeros::none, false, 1)).half_scales);
  NBitsModel divided(4, 32, 20, 64, Zeros::floats, true, 1);  // zero points as an importer writes f16 offsets
  for (size_t i = 0; i < divided.scales.size(); ++i) {
    divided.float_zero_points[i] = -to_float(to_half(0.37f * static_cast<float>(i + 1))) / divided.scales[i];
  }
  EXPECT_TRUE(pack(divided).half_scales);
  EXPECT_TRUE(pack(NBitsModel(4, 32, 20, 64, Zeros::floats, true, 1)).half_scales);  // −scale · zero point is an f16
  NBitsModel tiny(4, 32, 20, 64, Zeros::none, true, 1);
  tiny.scales[3] = 1e-20f;  // below the smallest f16
  EXPECT_FALSE(pack(tiny).half_scales);
}

TEST(PackNBits, ChoosesTheSmallestExactFormOfZeroPoints) {
  EXPECT_EQ(pack(NBitsModel(4, 32, 20, 64, Zeros::none, true, 1)).zeros, ZeroPoints::middle);
  EXPECT_EQ(pack(NBitsModel(4, 32, 20, 64, Zeros::packed, true, 1)).zeros, ZeroPoints::integers);
  EXPECT_EQ(pack(NBitsModel(4, 32, 20, 64, Zeros::whole_floats, true, 1)).zeros, ZeroPoints::integers);
  EXPECT_EQ(pack(NBitsModel(4, 32, 20, 64, Zeros::floats, true, 1)).zeros, ZeroPoints::offsets);
}

TEST(PackNBits, ReportsTheBytesItOwns) {
  // 2 panels × 2 blocks × 16 columns: 32 4-bit weights, an f16 scale and one byte of zero point each.
  EXPECT_EQ(pack(NBitsModel(4, 32, 20, 64, Zeros::packed, true, 1)).bytes(), 2 * 2 * 16 * (16 + 2 + 1));
}

TEST(PackFloats, PutsColumnsOfBothOrientationsIntoPanels) {
  constexpr int64_t n = 21, k = 5;
  std::vector<float> plain(k * n), transposed(n * k);
  for (int64_t x = 0; x < k; ++x) {
    for (int64_t j = 0; j < n; ++j) plain[x * n + j] = transposed[j * k + x] = static_cast<float>(100 * x + j + 1);
  }
  Workers workers(1);
  const PackedFloats a = pack_floats({plain.data(), DType::f32, n, k, n}, workers),
                     b = pack_floats({transposed.data(), DType::f32, n, k, k, true}, workers);
  ASSERT_EQ(a.panels(), 2);
  for (int64_t p = 0; p < 2; ++p) {
    for (int64_t x = 0; x < k; ++x) {
      for (int64_t j = 0; j < 16; ++j) {
        const float expected = p * 16 + j < n ? static_cast<float>(100 * x + p * 16 + j + 1) : 0.0f;
        ASSERT_EQ(a.panel<float>(p)[x * 16 + j], expected);
        ASSERT_EQ(b.panel<float>(p)[x * 16 + j], expected);
      }
    }
  }
}

}  // namespace
}  // namespace nxrt
