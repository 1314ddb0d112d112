#include "convert/ggml_blocks.h"

#include <cstring>

#include "base/half.h"

namespace genai {
namespace {

const uint8_t* bytes_at(const std::byte* block, int offset) { return reinterpret_cast<const uint8_t*>(block) + offset; }

float half_at(const std::byte* block, int offset) {
  nxrt::Half half;
  std::memcpy(&half.bits, block + offset, 2);
  return nxrt::to_float(half);
}

// 32 nibbles: the low halves of 16 bytes, then their high halves.
int nibble(const uint8_t* qs, int i) { return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4; }

void read_q4_0(const std::byte* block, QuantizedBlock& out) {
  out.scale[0] = half_at(block, 0);
  for (int i = 0; i < 32; ++i) out.q[i] = static_cast<uint8_t>(nibble(bytes_at(block, 2), i));
}

void read_q4_1(const std::byte* block, QuantizedBlock& out) {
  out.scale[0] = half_at(block, 0);
  out.offset[0] = half_at(block, 2);
  for (int i = 0; i < 32; ++i) out.q[i] = static_cast<uint8_t>(nibble(bytes_at(block, 4), i));
}

int five_bits(const std::byte* high, const uint8_t* qs, int i) {
  uint32_t fifth;
  std::memcpy(&fifth, high, 4);
  return nibble(qs, i) | static_cast<int>((fifth >> i & 1u) << 4);
}

void read_q5_0(const std::byte* block, QuantizedBlock& out) {  // w = d · (q5 − 16)
  out.scale[0] = half_at(block, 0);
  for (int i = 0; i < 32; ++i) {
    out.q[i] = static_cast<uint8_t>(five_bits(block + 2, bytes_at(block, 6), i) + 128 - 16);
  }
}

void read_q5_1(const std::byte* block, QuantizedBlock& out) {
  out.scale[0] = half_at(block, 0);
  out.offset[0] = half_at(block, 2);
  for (int i = 0; i < 32; ++i) out.q[i] = static_cast<uint8_t>(five_bits(block + 4, bytes_at(block, 8), i));
}

void read_q8_0(const std::byte* block, QuantizedBlock& out) {
  out.scale[0] = half_at(block, 0);
  for (int i = 0; i < 32; ++i) out.q[i] = static_cast<uint8_t>(bytes_at(block, 2)[i] ^ 0x80u);  // int8 + 128
}

void read_q2_k(const std::byte* block, QuantizedBlock& out) {
  const uint8_t* scales = bytes_at(block, 0);
  const uint8_t* qs = bytes_at(block, 16);
  const float d = half_at(block, 80), dmin = half_at(block, 82);
  for (int r = 0; r < 16; ++r) {
    out.scale[r] = d * static_cast<float>(scales[r] & 15);
    out.offset[r] = -(dmin * static_cast<float>(scales[r] >> 4));
  }
  for (int i = 0; i < 256; ++i) {
    out.q[i] = static_cast<uint8_t>(qs[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3);
  }
}

void read_q3_k(const std::byte* block, QuantizedBlock& out) {  // w = d · (sc − 32) · (q3 − 4)
  const uint8_t* mask = bytes_at(block, 0);
  const uint8_t* qs = bytes_at(block, 32);
  const uint8_t* packed = bytes_at(block, 96);
  const float d = half_at(block, 108);
  for (int r = 0; r < 16; ++r) {
    const int low = r < 8 ? packed[r] & 15 : packed[r - 8] >> 4;
    const int high = packed[8 + r % 4] >> (r / 4 * 2) & 3;
    out.scale[r] = d * static_cast<float>((low | high << 4) - 32);
  }
  for (int i = 0; i < 256; ++i) {
    const int low = qs[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    const int high = mask[i % 32] >> (i / 32) & 1;
    out.q[i] = static_cast<uint8_t>((low | high << 2) + 8 - 4);
  }
}

// The eight 6-bit scales and minima of Q4_K and Q5_K, in 12 bytes.
void read_k_scales(const std::byte* block, QuantizedBlock& out) {
  const float d = half_at(block, 0), dmin = half_at(block, 2);
  const uint8_t* s = bytes_at(block, 4);
  for (int r = 0; r < 8; ++r) {
    const int scale = r < 4 ? s[r] & 63 : (s[r + 4] & 15) | (s[r - 4] >> 6) << 4;
    const int minimum = r < 4 ? s[r + 4] & 63 : (s[r + 4] >> 4) | (s[r] >> 6) << 4;
    out.scale[r] = d * static_cast<float>(scale);
    out.offset[r] = -(dmin * static_cast<float>(minimum));
  }
}

void read_q4_k(const std::byte* block, QuantizedBlock& out) {
  read_k_scales(block, out);
  const uint8_t* qs = bytes_at(block, 16);
  for (int i = 0; i < 256; ++i) out.q[i] = static_cast<uint8_t>(qs[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15);
}

void read_q5_k(const std::byte* block, QuantizedBlock& out) {
  read_k_scales(block, out);
  const uint8_t* high = bytes_at(block, 16);
  const uint8_t* qs = bytes_at(block, 48);
  for (int i = 0; i < 256; ++i) {
    const int low = qs[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15;
    out.q[i] = static_cast<uint8_t>(low | (high[i % 32] >> (i / 32) & 1) << 4);
  }
}

void read_q6_k(const std::byte* block, QuantizedBlock& out) {  // w = d · sc · (q6 − 32)
  const uint8_t* low = bytes_at(block, 0);
  const uint8_t* high = bytes_at(block, 128);
  const float d = half_at(block, 208);
  for (int r = 0; r < 16; ++r) out.scale[r] = d * static_cast<float>(static_cast<int8_t>(bytes_at(block, 192)[r]));
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, quarter = i % 128 / 32, l = i % 32;
    const int four = low[half * 64 + quarter % 2 * 32 + l] >> (quarter / 2 * 4) & 15;
    const int two = high[half * 32 + l] >> (quarter * 2) & 3;
    out.q[i] = static_cast<uint8_t>((four | two << 4) + 128 - 32);
  }
}

void to_floats(GgmlType type, const std::byte* source, int64_t count, float* out) {
  if (type == GgmlType::f32) {
    std::memcpy(out, source, static_cast<size_t>(count) * 4);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, source + i * 2, 2);
    out[i] = type == GgmlType::f16 ? nxrt::to_float(nxrt::Half{bits}) : nxrt::to_float(nxrt::BFloat16{bits});
  }
}

}  // namespace

bool is_quantized(GgmlType type) { return info_of(type).block_elements > 1; }

BlockShape shape_of(GgmlType type) {
  switch (type) {
    case GgmlType::q4_0: return {4, 32, false};
    case GgmlType::q4_1: return {4, 32, true};
    case GgmlType::q5_0: return {8, 32, false};
    case GgmlType::q5_1: return {8, 32, true};
    case GgmlType::q8_0: return {8, 32, false};
    case GgmlType::q2_k: return {4, 16, true};
    case GgmlType::q3_k: return {4, 16, false};
    case GgmlType::q4_k: return {4, 32, true};
    case GgmlType::q5_k: return {8, 32, true};
    default: return {8, 16, false};  // Q6_K
  }
}

void read_block(GgmlType type, const std::byte* block, QuantizedBlock& out) {
  switch (type) {
    case GgmlType::q4_0: return read_q4_0(block, out);
    case GgmlType::q4_1: return read_q4_1(block, out);
    case GgmlType::q5_0: return read_q5_0(block, out);
    case GgmlType::q5_1: return read_q5_1(block, out);
    case GgmlType::q8_0: return read_q8_0(block, out);
    case GgmlType::q2_k: return read_q2_k(block, out);
    case GgmlType::q3_k: return read_q3_k(block, out);
    case GgmlType::q4_k: return read_q4_k(block, out);
    case GgmlType::q5_k: return read_q5_k(block, out);
    default: return read_q6_k(block, out);
  }
}

void dequantize(GgmlType type, const std::byte* source, int64_t count, float* out) {
  if (!is_quantized(type)) return to_floats(type, source, count, out);
  const auto [bits, run, affine] = shape_of(type);
  const GgmlTypeInfo& info = info_of(type);
  const int zero = affine ? 0 : 1 << (bits - 1);
  QuantizedBlock block;
  for (; count > 0; count -= info.block_elements, source += info.block_bytes, out += info.block_elements) {
    read_block(type, source, block);
    for (int i = 0; i < info.block_elements; ++i) {
      const float product = block.scale[i / run] * static_cast<float>(block.q[i] - zero);
      out[i] = affine ? product + block.offset[i / run] : product;
    }
  }
}

}  // namespace genai
