#include "kernels/pack.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.h"

namespace nxrt {
namespace {

constexpr int64_t kColumns = 16;

// Rounding to f16 may lose 2^-20 of a value, a few units in the last place of f32: an importer writes an f16 offset as
// the zero point −offset / scale, and what comes back as −scale · zero_point is within two f32 roundings of the f16 it
// was.
bool fits_half(float x) { return std::fabs(to_float(to_half(x)) - x) <= std::ldexp(std::fabs(x), -20); }

float scale_at(const NBitsSource& s, int64_t i) { return s.scales ? s.scales[i] : to_float(Half{s.half_scales[i]}); }

int64_t blocks_of(const NBitsSource& s) { return (s.k + s.block - 1) / s.block; }

bool integral_zero_points(const NBitsSource& s) {
  const float limit = static_cast<float>(1 << s.bits);
  return std::all_of(s.float_zero_points, s.float_zero_points + s.n * blocks_of(s),
                     [limit](float z) { return z >= 0.0f && z < limit && z == std::floor(z); });
}

ZeroPoints zeros_of(const NBitsSource& s) {
  if (s.zero_points) return ZeroPoints::integers;
  if (!s.float_zero_points) return ZeroPoints::middle;
  return integral_zero_points(s) ? ZeroPoints::integers : ZeroPoints::offsets;
}

float offset_at(const NBitsSource& s, int64_t i) { return -scale_at(s, i) * s.float_zero_points[i]; }

uint8_t zero_point_at(const NBitsSource& s, int64_t row, int64_t block) {
  if (!s.zero_points) return static_cast<uint8_t>(s.float_zero_points[row * blocks_of(s) + block]);
  if (s.bits == 8) return s.zero_points[row * blocks_of(s) + block];
  const uint8_t pair = s.zero_points[row * ((blocks_of(s) + 1) / 2) + block / 2];
  return block % 2 == 0 ? pair & 15 : pair >> 4;
}

bool half_suffices(const NBitsSource& s, ZeroPoints zeros) {
  const int64_t count = s.n * blocks_of(s);
  for (int64_t i = 0; i < count; ++i) {
    if (s.scales && !fits_half(s.scales[i])) return false;
    if (zeros == ZeroPoints::offsets && !fits_half(offset_at(s, i))) return false;
  }
  return true;
}

// Eight 4-bit weights in the model's order (0|1, 2|3, 4|5, 6|7) to two groups of four (0|4, 1|5, 2|6, 3|7).
uint32_t pair_groups(uint32_t s) {
  const uint32_t even = s & 0x0f0f0f0fu, odd = (s >> 4) & 0x0f0f0f0fu;
  const uint32_t evens = (even & 0xffffu) | (even >> 12);  // bytes 0|4 and 2|6, above them what is masked below
  const uint32_t odds = (odd & 0xffffu) | (odd >> 12);
  return (evens & 0xffu) | (odds & 0xffu) << 8 | (evens & 0xff00u) << 8 | (odds & 0xff00u) << 16;
}

void pack_block(const uint8_t* q, int bits, int64_t block, uint8_t* column) {
  const int64_t words = block * bits / 32;
  for (int64_t i = 0; i < words; ++i) {
    uint32_t word;
    std::memcpy(&word, q + i * 4, 4);
    if (bits == 4) word = pair_groups(word);
    std::memcpy(column + i * kColumns * 4, &word, 4);
  }
}

void store_element(AlignedBytes& array, bool half, int64_t i, float x) {
  if (half) {
    reinterpret_cast<Half*>(array.get())[i] = to_half(x);
  } else {
    reinterpret_cast<float*>(array.get())[i] = x;
  }
}

void pack_panel_block(const NBitsSource& s, PackedNBits& packed, int64_t panel, int64_t b) {
  uint8_t* data = const_cast<uint8_t*>(packed.block_data(panel, b));
  const int64_t rows = std::min(kColumns, s.n - panel * kColumns), row_bytes = s.block * s.bits / 8;
  if (rows < kColumns) std::memset(data, 0, packed.block_bytes());
  for (int64_t j = 0; j < kColumns; ++j) {
    const int64_t row = panel * kColumns + j, from = row * packed.blocks() + b;
    const int64_t to = (panel * packed.blocks() + b) * kColumns + j;
    const bool exists = j < rows;
    if (exists) pack_block(s.q + from * row_bytes, s.bits, s.block, data + j * 4);
    store_element(packed.scales, packed.half_scales, to, exists ? scale_at(s, from) : 0.0f);
    if (packed.zeros == ZeroPoints::integers) {
      packed.offsets[to] = std::byte{exists ? zero_point_at(s, row, b) : uint8_t{0}};
    } else if (packed.zeros == ZeroPoints::offsets) {
      store_element(packed.offsets, packed.half_scales, to, exists ? offset_at(s, from) : 0.0f);
    }
  }
}

template <class Bits>
void pack_panel(const FloatMatrix& b, int64_t p, PackedFloats& packed) {
  const auto* from = static_cast<const Bits*>(b.data);
  Bits* panel = reinterpret_cast<Bits*>(packed.data.get()) + p * b.k * kColumns;
  const int64_t columns = std::min(kColumns, b.n - p * kColumns);
  for (int64_t x = 0; x < b.k; ++x) {
    for (int64_t j = 0; j < kColumns; ++j) {
      const int64_t column = p * kColumns + j;
      panel[x * kColumns + j] = j >= columns ? 0 : b.transposed ? from[column * b.ld + x] : from[x * b.ld + column];
    }
  }
}

int64_t offset_bytes(const PackedNBits& p) {
  switch (p.zeros) {
    case ZeroPoints::middle: return 0;
    case ZeroPoints::integers: return 1;
    case ZeroPoints::offsets: return p.half_scales ? 2 : 4;
  }
  return 0;
}

}  // namespace

PackedFloats pack_floats(const FloatMatrix& b, Workers& workers) {
  PackedFloats packed{.dtype = b.dtype, .n = b.n, .k = b.k, .data = {}};
  packed.data = allocate_aligned(packed.bytes());
  workers.each(packed.panels(), [&](int64_t p) {
    // As bits: the types differ in size alone here, and zero is zero in each.
    if (b.dtype == DType::f32) return pack_panel<uint32_t>(b, p, packed);
    pack_panel<uint16_t>(b, p, packed);
  });
  return packed;
}

int64_t PackedNBits::bytes() const {
  const int64_t all = panels() * blocks();
  return all * (block_bytes() + kColumns * (half_scales ? 2 : 4) + kColumns * offset_bytes(*this));
}

PackedNBits pack_nbits(const NBitsSource& source, Workers& workers) {
  PackedNBits packed{.bits = source.bits, .block = source.block, .n = source.n, .k = source.k};
  packed.zeros = zeros_of(source);
  packed.half_scales = half_suffices(source, packed.zeros);
  const int64_t all = packed.panels() * packed.blocks();
  packed.data = allocate_aligned(all * packed.block_bytes());
  packed.scales = allocate_aligned(all * kColumns * (packed.half_scales ? 2 : 4));
  if (packed.zeros != ZeroPoints::middle) packed.offsets = allocate_aligned(all * kColumns * offset_bytes(packed));
  workers.each(packed.panels(), [&](int64_t panel) {
    for (int64_t b = 0; b < packed.blocks(); ++b) pack_panel_block(source, packed, panel, b);
  });
  return packed;
}

}  // namespace nxrt
