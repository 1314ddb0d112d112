// The batch descriptor of one step: which rows of the packed [1, T] activations belong to which sequence, and where
// that sequence's keys and values live. Written by gen/, read by nxrt.PagedAttention.
//
// A block holds `block_tokens` tokens of every layer. Inside a block, layer l's keys start at layers[l].k_offset and
// its values at layers[l].v_offset: [kv_heads][block_tokens][head_dim] elements of `dtype`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace nxrt {

struct PagedLayer {
  int64_t k_offset = 0, v_offset = 0;  // bytes from the start of a block
  int kv_heads = 0;
  int head_dim = 0;
};

struct PagedSequence {
  const int32_t* blocks = nullptr;  // [ceil((past + rows) / block_tokens)] block numbers
  int64_t past = 0;                 // tokens already in the cache
  int64_t first_row = 0;            // of this sequence in the step
  int64_t rows = 0;                 // >= 1; row r is at position past + r
};

struct PagedStep {
  std::byte* pool = nullptr;
  int64_t block_bytes = 0;
  int block_tokens = 16;
  DType dtype = DType::f32;  // f32 or f16
  std::span<const PagedLayer> layers;
  std::span<const PagedSequence> sequences;
  int64_t rows = 0;  // Σ sequences.rows
};

}  // namespace nxrt
