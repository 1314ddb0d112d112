#include "convert/ggml_blocks.h"

#include <cmath>
#include <cstring>

#include "base/half.h"
#include "convert/fixtures.h"
#include "convert/nbits.h"

namespace genai {
namespace {

using test::from_hex;

struct Sample {
  GgmlType type;
  std::vector<std::byte> blocks;
  std::vector<float> floats;
  std::string name;
};

std::vector<Sample> samples() {
  std::vector<Sample> all;
  const nlohmann::json golden = test::golden("blocks.json");
  for (uint32_t number = 0; number < 64; ++number) {
    const GgmlTypeInfo* info = find_ggml_type(number);
    if (!info || !golden.contains(info->name)) continue;
    const auto& entry = golden[info->name];
    const std::vector<std::byte> raw = from_hex(entry["floats"]);
    Sample sample{info->type, from_hex(entry["blocks"]), std::vector<float>(raw.size() / 4), info->name};
    std::memcpy(sample.floats.data(), raw.data(), raw.size());
    all.push_back(sample);
  }
  EXPECT_EQ(all.size(), 10u);
  return all;
}

TEST(GgmlBlocks, DequantizesBitForBitAsTheReference) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    std::vector<float> out(sample.floats.size());
    dequantize(sample.type, sample.blocks.data(), static_cast<int64_t>(out.size()), out.data());
    EXPECT_EQ(out, sample.floats);
  }
}

TEST(GgmlBlocks, HalvesAndBfloatsBecomeTheirFloats) {
  const uint16_t bits[] = {0x3c00, 0x8001, 0x7bff};
  float out[3];
  dequantize(GgmlType::f16, reinterpret_cast<const std::byte*>(bits), 3, out);
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], -0x1p-24f);
  EXPECT_EQ(out[2], 65504.0f);
  dequantize(GgmlType::bf16, reinterpret_cast<const std::byte*>(bits), 1, out);
  EXPECT_EQ(out[0], 0.0078125f);
}

// The floats that a stored row means, by the definition of MatMulNBits.
std::vector<float> meaning(const NBitsForm& form, int64_t k, const NBitsRow& row) {
  std::vector<float> w(static_cast<size_t>(k));
  for (int64_t i = 0; i < k; ++i) {
    const int64_t b = i / form.block;
    const int q = form.bits == 8 ? row.q[i] : row.q[i / 2] >> (i % 2 * 4) & 15;
    float zero = static_cast<float>(1 << (form.bits - 1));
    if (form.zeros == ZeroPoints::floats) zero = row.float_zeros[b];
    if (form.zeros == ZeroPoints::bytes) zero = row.byte_zeros[b];
    w[static_cast<size_t>(i)] = row.scales[b] * (static_cast<float>(q) - zero);
  }
  return w;
}

struct RowStorage {
  std::vector<uint8_t> q, byte_zeros;
  std::vector<float> scales, float_zeros;
  explicit RowStorage(int64_t k) : q(k), byte_zeros(k / 16), scales(k / 16), float_zeros(k / 16) {}
  NBitsRow row() { return {q.data(), scales.data(), float_zeros.data(), byte_zeros.data()}; }
};

TEST(NBits, CarriesEveryBlockOverWithoutLoss) {
  for (const Sample& sample : samples()) {
    const ChosenForm chosen = form_for(sample.type, false);
    if (!chosen.exact) continue;
    SCOPED_TRACE(sample.name);
    const int64_t k = static_cast<int64_t>(sample.floats.size());
    RowStorage storage(k);
    carry_row(sample.type, sample.blocks.data(), k, chosen.form, storage.row());
    const std::vector<float> w = meaning(chosen.form, k, storage.row());
    float largest = 0;
    for (const float x : sample.floats) largest = std::max(largest, std::abs(x));
    // A float zero point is rounded once; everything else is exact.
    const float tolerance = chosen.form.zeros == ZeroPoints::floats ? largest * 4e-7f : 0.0f;
    for (size_t i = 0; i < w.size(); ++i) ASSERT_NEAR(w[i], sample.floats[i], tolerance) << i;
  }
}

TEST(NBits, ABlockWithoutAScaleIsItsOffset) {
  std::vector<std::byte> block(20, std::byte{0xa5});
  const uint16_t scale = 0, offset = nxrt::to_half(-0.75f).bits;
  std::memcpy(block.data(), &scale, 2);
  std::memcpy(block.data() + 2, &offset, 2);
  RowStorage storage(32);
  const NBitsForm form = form_for(GgmlType::q4_1, false).form;
  carry_row(GgmlType::q4_1, block.data(), 32, form, storage.row());
  EXPECT_EQ(meaning(form, 32, storage.row()), std::vector<float>(32, -0.75f));
}

TEST(NBits, RoundsToTheNearestStep) {
  std::vector<float> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) * 1.7f) * 3.0f + (i < 32 ? 0.0f : 2.0f);
  for (const NBitsForm form : {NBitsForm{4, 32, ZeroPoints::implied}, NBitsForm{8, 32, ZeroPoints::implied},
                               NBitsForm{8, 16, ZeroPoints::bytes}}) {
    SCOPED_TRACE(form.bits);
    RowStorage storage(64);
    quantize_row(x.data(), 64, form, storage.row());
    const std::vector<float> w = meaning(form, 64, storage.row());
    for (size_t i = 0; i < x.size(); ++i) {
      // The side opposite to the farthest value ends one step early: 2^(bits−1) steps one way, one fewer the other.
      const float step = std::abs(storage.scales[i / static_cast<size_t>(form.block)]);
      ASSERT_NEAR(w[i], x[i], step * (form.zeros == ZeroPoints::implied ? 1.0f : 0.51f)) << i;
    }
  }
}

TEST(NBits, ZerosAndNonsenseStayInRange) {
  const float inf = INFINITY;
  for (const float value : {0.0f, inf, -inf, NAN, 3e38f}) {
    const std::vector<float> x(32, value);
    for (const NBitsForm form : {NBitsForm{4, 32, ZeroPoints::implied}, NBitsForm{8, 32, ZeroPoints::bytes}}) {
      RowStorage storage(32);
      quantize_row(x.data(), 32, form, storage.row());
      if (value != 0.0f) continue;
      EXPECT_EQ(meaning(form, 32, storage.row()), x);
    }
  }
}

TEST(NBits, TablesTakeOnlyWhatGatherBlockQuantizedTakes) {
  EXPECT_EQ(form_for(GgmlType::q8_0, true).form, (NBitsForm{8, 32, ZeroPoints::implied}));
  EXPECT_TRUE(form_for(GgmlType::q6_k, true).exact);
  EXPECT_EQ(form_for(GgmlType::q4_1, true).form, (NBitsForm{8, 32, ZeroPoints::bytes}));
  EXPECT_FALSE(form_for(GgmlType::q4_k, true).exact);
  EXPECT_FALSE(form_for(GgmlType::q5_k, false).exact);
}

}  // namespace
}  // namespace genai
