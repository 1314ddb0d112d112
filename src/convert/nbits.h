// Rows of weights in the storage of com.microsoft MatMulNBits and GatherBlockQuantized.
//
// A row of K weights is K·bits/8 bytes of q (low bits first), one f32 scale per block, and per block no zero point
// (2^(bits−1) is meant), a float one, or a byte: w = scale · (q − zero).
// ONNX Runtime's CPU kernels take float zero points with 4 bits only, and GatherBlockQuantized takes none; form_for()
// knows that.
// Threads: pure functions. Errors: none; K is a multiple of the form's block and of the source's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convert/ggml_type.h"

namespace genai {

enum class ZeroPoints { implied, floats, bytes };

struct NBitsForm {
  int bits = 4;
  int block = 32;
  ZeroPoints zeros = ZeroPoints::implied;

  int64_t row_bytes(int64_t k) const { return k * bits / 8; }
  int64_t row_blocks(int64_t k) const { return k / block; }
  bool operator==(const NBitsForm&) const = default;
};

struct NBitsRow {
  uint8_t* q;           // [row_bytes]
  float* scales;        // [row_blocks]
  float* float_zeros;   // [row_blocks] when zeros are floats
  uint8_t* byte_zeros;  // [row_blocks] when zeros are bytes (8 bit)
};

// The form that holds a quantized type without loss; where there is none (5 bits with offsets; 4 bits with offsets in a
// gathered table) 8 bits with byte zero points, which `exact` reports as false.
struct ChosenForm {
  NBitsForm form;
  bool exact = true;
};
ChosenForm form_for(GgmlType type, bool gathered);

// Block for block; only for the exact form of `type`.
void carry_row(GgmlType type, const std::byte* source, int64_t k, const NBitsForm& form, const NBitsRow& out);
// Rounds floats to the form (not ZeroPoints::floats): symmetric when zeros are implied, else over [min, max].
void quantize_row(const float* x, int64_t k, const NBitsForm& form, const NBitsRow& out);

}  // namespace genai
