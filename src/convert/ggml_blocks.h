// GGML's block formats, read once, used twice: to get floats, and to carry blocks over to MatMulNBits.
//
// Every quantized format is w = scale · (q − zero) or w = scale · q + offset with one scale per `run` elements;
// read_block brings each to that form with the q that MatMulNBits stores, so that carrying a block over changes no
// value. Threads: pure functions. Errors: none; the caller gives whole blocks. Source: ggml's published block layouts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "convert/ggml_type.h"

namespace genai {

struct QuantizedBlock {
  std::array<uint8_t, 256> q;
  std::array<float, 16> scale;   // one per run of elements
  std::array<float, 16> offset;  // used when the format is affine
};

// How a quantized type reads: constant per type.
struct BlockShape {
  int bits;     // that q needs in MatMulNBits: 4 or 8
  int run;      // elements per scale: 16 or 32
  bool affine;  // w = scale · q + offset; otherwise w = scale · (q − 2^(bits−1))
};

bool is_quantized(GgmlType type);    // not F32, F16, BF16
BlockShape shape_of(GgmlType type);  // of a quantized type
void read_block(GgmlType type, const std::byte* block, QuantizedBlock& out);

// `count` elements, a multiple of the type's block, exactly as the reference dequantization rounds them.
void dequantize(GgmlType type, const std::byte* source, int64_t count, float* out);

}  // namespace genai
