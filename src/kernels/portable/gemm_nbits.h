// Products with 4- and 8-bit weights over `Columns`, the facade of 16 output columns, and its `Ints`. See pack.h for
// the layout. Per output: exact integers inside a block, then one rounding chain over the blocks in order, whatever m
// is.
#pragma once

#include "kernels/kernels.h"
#include "kernels/pack.h"
#include "kernels/portable/row_blocks.h"

namespace nxrt::portable {

// Scales and zero points of the 16 columns of one block: w = scale · (q − zero) + offset.
template <class Columns>
struct BlockScales {
  using Ints = typename Columns::Ints;
  Columns scale, offset;
  Ints zero;

  BlockScales(const PackedNBits& w, int64_t panel, int64_t block)
      : scale(element(w, w.scales.get(), at(w, panel, block))), offset(Columns::zero()), zero(Ints::zero()) {
    if (w.zeros == ZeroPoints::middle) zero = Ints::fill(1 << (w.bits - 1));
    if (w.zeros == ZeroPoints::integers) zero = Ints::widen(w.offsets.get() + at(w, panel, block));
    if (w.zeros == ZeroPoints::offsets) offset = element(w, w.offsets.get(), at(w, panel, block));
  }

 private:
  static int64_t at(const PackedNBits& w, int64_t panel, int64_t block) {
    return (panel * w.blocks() + block) * kPanel;
  }
  static Columns element(const PackedNBits& w, const std::byte* array, int64_t i) {
    return w.half_scales ? Columns::load(reinterpret_cast<const Half*>(array) + i)
                         : Columns::load(reinterpret_cast<const float*>(array) + i);
  }
};

// Σ w·x of one block for `rows` rows, `stride` activations apart.
template <class Dot, int rows>
void dot_block(const uint8_t* data, int bits, int64_t block, const int8_t* x, int64_t stride,
               typename Dot::Ints* total) {
  for (int r = 0; r < rows; ++r) total[r] = Dot::Ints::zero();
  if (bits == 8) {
    for (int64_t i = 0; i < block; i += 4) {
      const auto w = Dot::load(data + i * kPanel);
      for (int r = 0; r < rows; ++r) total[r] = Dot::dot(total[r], w, x + r * stride + i);
    }
    return;
  }
  for (int64_t begin = 0; begin < block; begin += Dot::kSmallRun) {
    const int64_t end = begin + Dot::kSmallRun < block ? begin + Dot::kSmallRun : block;
    typename Dot::Small some[rows];
    for (int r = 0; r < rows; ++r) some[r] = Dot::Small::zero();
    for (int64_t i = begin; i < end; i += 8) {
      const auto pair = Dot::load(data + i * kPanel / 2);
      const auto even = Dot::low(pair), odd = Dot::high(pair);
      for (int r = 0; r < rows; ++r) {
        some[r] = Dot::dot_small(Dot::dot_small(some[r], even, x + r * stride + i), odd, x + r * stride + i + 4);
      }
    }
    for (int r = 0; r < rows; ++r) total[r] = Dot::add(total[r], some[r]);
  }
}

template <class Columns, class Dot, int rows>
void nbits_q8_tile(const QuantizedRows& x, int64_t row, const PackedNBits& w, int64_t panel, float* c, int64_t ldc) {
  using Ints = typename Columns::Ints;
  const int64_t blocks = w.blocks(), stride = blocks * w.block, width = w.n - panel * kPanel;
  const int8_t* q = x.q + row * stride;
  Columns total[rows];
  for (int r = 0; r < rows; ++r) total[r] = Columns::zero();
  for (int64_t b = 0; b < blocks; ++b) {
    const uint8_t* data = w.block_data(panel, b);
    Dot::prefetch(data + Dot::kPrefetch);
    Ints products[rows];
    dot_block<Dot, rows>(data, w.bits, w.block, q + b * w.block, stride, products);
    const BlockScales<Columns> s(w, panel, b);
    for (int r = 0; r < rows; ++r) {
      const int64_t at = (row + r) * blocks + b;
      const Columns factor = Columns::broadcast(x.scales[at]);
      Columns value;
      if (w.zeros == ZeroPoints::offsets) {
        const Columns sum = Columns::broadcast(static_cast<float>(x.sums[at]));
        value = fma(s.scale, to_float(products[r]), s.offset * sum);
      } else {
        value = s.scale * to_float(products[r] - s.zero * Ints::fill(x.sums[at]));
      }
      total[r] = fma(factor, value, total[r]);
    }
  }
  for (int r = 0; r < rows; ++r) total[r].store(c + r * ldc, width < kPanel ? width : kPanel);
}

template <class Columns, class Dot>
void gemm_nbits_q8(const QuantizedRows& x, const PackedNBits& w, int64_t panel_begin, int64_t panel_end, float* c,
                   int64_t ldc) noexcept {
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    each_row_block<Dot::kRows>(x.rows, [&](int64_t i, auto count) {
      nbits_q8_tile<Columns, Dot, decltype(count)::value>(x, i, w, p, c + i * ldc + p * kPanel, ldc);
    });
  }
}

// One block with float activations: `sum` of a·(q − zero) when `scaled_after`, else of a·(scale·q + offset).
template <class Columns, int rows, bool scaled_after>
void dot_block_f32(const uint8_t* data, int bits, int64_t count, const BlockScales<Columns>& s, const float* a,
                   int64_t lda, Columns* sum) {
  using Ints = typename Columns::Ints;
  const auto step = [&](const Ints& word, int64_t i, int shift) {
    const Columns q = bits == 8 ? to_float(word.byte(shift) - s.zero) : to_float(word.nibble(shift) - s.zero);
    const Columns value = scaled_after ? q : fma(s.scale, q, s.offset);
    for (int r = 0; r < rows; ++r) sum[r] = fma(Columns::broadcast(a[r * lda + i]), value, sum[r]);
  };
  // A 64-byte group holds 4 bytes per column: four weights of 8 bits, or eight of 4 bits, evens low and odds high.
  const int64_t per_group = 32 / bits;
  for (int64_t i = 0; i < count; i += per_group) {
    const Ints word = Ints::load(data + i / per_group * 64);
    const int64_t here = count - i < per_group ? count - i : per_group;
    for (int64_t u = 0; u < here; ++u) step(word, i + u, static_cast<int>(u % 4 * 8 + u / 4 * 4));
  }
}

template <class Columns, int rows>
void nbits_f32_tile(const float* a, int64_t lda, const PackedNBits& w, int64_t panel, float* c, int64_t ldc) {
  const int64_t width = w.n - panel * kPanel;
  Columns total[rows];
  for (int r = 0; r < rows; ++r) total[r] = Columns::zero();
  for (int64_t b = 0; b < w.blocks(); ++b) {
    const int64_t begin = b * w.block, count = w.k - begin < w.block ? w.k - begin : w.block;
    const uint8_t* data = w.block_data(panel, b);
    const BlockScales<Columns> s(w, panel, b);
    if (w.zeros == ZeroPoints::offsets) {
      dot_block_f32<Columns, rows, false>(data, w.bits, count, s, a + begin, lda, total);
      continue;
    }
    Columns sum[rows];
    for (int r = 0; r < rows; ++r) sum[r] = Columns::zero();
    dot_block_f32<Columns, rows, true>(data, w.bits, count, s, a + begin, lda, sum);
    for (int r = 0; r < rows; ++r) total[r] = fma(s.scale, sum[r], total[r]);
  }
  for (int r = 0; r < rows; ++r) total[r].store(c + r * ldc, width < kPanel ? width : kPanel);
}

template <class Columns>
void gemm_nbits_f32(const float* a, int64_t lda, int64_t m, const PackedNBits& w, int64_t panel_begin,
                    int64_t panel_end, float* c, int64_t ldc) noexcept {
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    each_row_block<Columns::kRows>(m, [&](int64_t i, auto count) {
      nbits_f32_tile<Columns, decltype(count)::value>(a + i * lda, lda, w, p, c + i * ldc + p * kPanel, ldc);
    });
  }
}

}  // namespace nxrt::portable
