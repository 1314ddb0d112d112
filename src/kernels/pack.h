// Weights repacked once, at prepare, into the one layout every ISA reads.
//
// PackedFloats: panels of 16 output columns: data[panel][k][16] in the weights' own type, zero-padded columns.
// PackedNBits: panels of 16 output columns; inside a panel, block after block along k; inside a block, groups of 4
//   consecutive k: 16 columns × 4 bytes (the operand order of VPDPBUSD, of AMX tiles and of SDOT).
//   8 bit: unsigned bytes as stored in the model (0..255).
//   4 bit: two groups share 64 bytes: low nibble = even group, high nibble = odd group.
//   scales[panel][block][16] as f16 when that loses nothing, else f32: w = scale · (q − zero) + offset, where
//   middle:   zero = 2^(bits−1), nothing stored;
//   integers: zero is a byte, offsets[panel][block][16] of uint8;
//   offsets:  zero = 0, offset = −scale · zero_point, offsets[panel][block][16] of the scales' type.
//
// Threads: packing is parallel over panels; the result is immutable. Memory: 64-byte aligned, owned by the struct.
// Errors:  pack throws Error{out_of_capacity} when memory can't be had.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/workers.h"
#include "kernels/aligned_bytes.h"

namespace nxrt {

struct PackedFloats {
  DType dtype = DType::f32;  // f32, f16 or bf16
  int64_t n = 0, k = 0;
  AlignedBytes data;
  int64_t panels() const { return (n + 15) / 16; }
  template <class T>  // float, Half or BFloat16, as dtype says
  const T* panel(int64_t p) const {
    return reinterpret_cast<const T*>(data.get()) + p * k * 16;
  }
  int64_t bytes() const { return panels() * k * 16 * (dtype == DType::f32 ? 4 : 2); }
};

struct FloatMatrix {
  const void* data;
  DType dtype;       // f32, f16 or bf16
  int64_t n, k, ld;  // [k, n] rows `ld` elements apart, or transposed [n, k]
  bool transposed = false;
};
PackedFloats pack_floats(const FloatMatrix& b, Workers& workers);

enum class ZeroPoints { middle, integers, offsets };

struct PackedNBits {
  int bits = 4;        // 4 or 8
  int64_t block = 32;  // multiple of 16
  int64_t n = 0, k = 0;
  bool half_scales = true;  // element type of scales (and of offsets, where those are real numbers)
  ZeroPoints zeros = ZeroPoints::middle;
  AlignedBytes data, scales, offsets;
  int64_t panels() const { return (n + 15) / 16; }
  int64_t blocks() const { return (k + block - 1) / block; }
  int64_t block_bytes() const { return block * 16 * bits / 8; }
  const uint8_t* block_data(int64_t panel, int64_t b) const {
    return reinterpret_cast<const uint8_t*>(data.get()) + (panel * blocks() + b) * block_bytes();
  }
  int64_t bytes() const;  // everything owned
};

// The model's own storage (com.microsoft MatMulNBits): q [n, blocks, block·bits/8] low bits first, scales [n, blocks].
struct NBitsSource {
  int bits;
  int64_t block, n, k;
  const uint8_t* q;
  const float* scales;  // one of the two
  const uint16_t* half_scales;
  const uint8_t* zero_points;      // packed [n, ceil(blocks·bits/8)], or null
  const float* float_zero_points;  // [n, blocks], or null; with neither: 2^(bits−1)
};
PackedNBits pack_nbits(const NBitsSource& source, Workers& workers);

}  // namespace nxrt
