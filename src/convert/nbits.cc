#include "convert/nbits.h"

#include <algorithm>
#include <cmath>

#include "convert/ggml_blocks.h"

namespace genai {
namespace {

void store_q(const uint8_t* q, int64_t count, int bits, uint8_t* out) {
  if (bits == 8) {
    std::copy_n(q, count, out);
    return;
  }
  for (int64_t i = 0; i < count; i += 2) out[i / 2] = static_cast<uint8_t>(q[i] | q[i + 1] << 4);
}

// Rounds into [0, highest]; NaN becomes 0.
int round_into(float x, int highest) {
  if (!(x > 0.0f)) return 0;
  return x < static_cast<float>(highest) ? static_cast<int>(std::nearbyint(x)) : highest;
}

struct Grid {
  float scale;
  int zero;
};

// Symmetric: the value farthest from zero gets the far end of the integers, so that it is kept exactly.
Grid symmetric_grid(const float* x, int64_t count, int bits) {
  const float* farthest = std::max_element(x, x + count, [](float a, float b) { return std::abs(a) < std::abs(b); });
  const int half = 1 << (bits - 1);
  return {*farthest / static_cast<float>(-half), half};
}

Grid min_max_grid(const float* x, int64_t count) {
  const auto [low, high] = std::minmax_element(x, x + count);
  const float lowest = std::min(*low, 0.0f), highest = std::max(*high, 0.0f);
  const float scale = (highest - lowest) / 255.0f;
  return {scale, scale > 0 ? round_into(-lowest / scale, 255) : 0};
}

uint8_t nearest(float x, const Grid& grid, int bits) {
  if (!(std::abs(grid.scale) > 0)) return static_cast<uint8_t>(grid.zero);
  return static_cast<uint8_t>(round_into(x / grid.scale + static_cast<float>(grid.zero), (1 << bits) - 1));
}

}  // namespace

ChosenForm form_for(GgmlType type, bool gathered) {
  const auto [bits, run, affine] = shape_of(type);
  if (!affine) return {{bits, run, ZeroPoints::implied}, true};
  if (bits == 4 && !gathered) return {{4, run, ZeroPoints::floats}, true};
  return {{8, run, ZeroPoints::bytes}, false};
}

void carry_row(GgmlType type, const std::byte* source, int64_t k, const NBitsForm& form, const NBitsRow& out) {
  const GgmlTypeInfo& info = info_of(type);
  const int runs = info.block_elements / form.block;
  QuantizedBlock block;
  for (int64_t b = 0; b < k / info.block_elements; ++b) {
    read_block(type, source + b * info.block_bytes, block);
    for (int r = 0; r < runs; ++r) {
      const int64_t at = b * runs + r;
      out.scales[at] = block.scale[r];
      if (form.zeros != ZeroPoints::floats) continue;
      // scale · (q − zero) = scale · q + offset. Without a scale all weights are the offset: offset · (0 − (−1)).
      out.float_zeros[at] = block.scale[r] != 0 ? -block.offset[r] / block.scale[r] : -1.0f;
      if (block.scale[r] != 0) continue;
      out.scales[at] = block.offset[r];
      std::fill_n(block.q.data() + r * form.block, form.block, uint8_t{0});
    }
    store_q(block.q.data(), info.block_elements, form.bits, out.q + form.row_bytes(b * info.block_elements));
  }
}

void quantize_row(const float* x, int64_t k, const NBitsForm& form, const NBitsRow& out) {
  uint8_t q[256];
  for (int64_t b = 0; b < form.row_blocks(k); ++b, x += form.block) {
    const bool symmetric = form.zeros == ZeroPoints::implied;
    const Grid grid = symmetric ? symmetric_grid(x, form.block, form.bits) : min_max_grid(x, form.block);
    for (int i = 0; i < form.block; ++i) q[i] = nearest(x[i], grid, form.bits);
    out.scales[b] = grid.scale;
    if (!symmetric) out.byte_zeros[b] = static_cast<uint8_t>(grid.zero);
    store_q(q, form.block, form.bits, out.q + form.row_bytes(b * form.block));
  }
}

}  // namespace genai
