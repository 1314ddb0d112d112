// How the keys and values of 16 tokens of every layer lie in one block of the pool (see ops/paged_step.h).
#pragma once

#include <span>
#include <vector>

#include "ops/paged_step.h"

namespace genai {

inline constexpr int kBlockTokens = 16;

struct KvHeads {
  int kv_heads = 0;
  int head_dim = 0;
};

struct KvLayout {
  std::vector<nxrt::PagedLayer> layers;
  nxrt::DType dtype = nxrt::DType::f32;  // f32 or f16; without layers, what the model keeps itself
  int64_t block_bytes = 0;               // a multiple of 64, so that every block and tensor starts on a cache line
};

// Throws Error{invalid_argument} when a size is not positive or the dtype can't be stored.
KvLayout make_kv_layout(std::span<const KvHeads> layers, nxrt::DType dtype);

// Blocks that hold `tokens` tokens.
constexpr int64_t blocks_for(int64_t tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

}  // namespace genai
