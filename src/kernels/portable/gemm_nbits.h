// Products with 4- and 8-bit weights over `Columns`, the facade of 16 output columns, and its `Ints`. See pack.h for
// the layout. Per output: exact integers inside a block, then one rounding chain over the blocks in order, whatever m
// is.
#pragma once

#include "kernels/kernels.h"
#include "kernels/pack.h"
#include "kernels/portable/row_blocks.h"

namespace nxrt::portable {

inline int64_t at_least(int64_t low, int64_t x) { return x < low ? low : x; }
inline int64_t at_most(int64_t high, int64_t x) { return x < high ? x : high; }

// A Dot whose small sums never overflow.
inline constexpr int64_t kUnlimited = INT64_MAX;

// Scales and zero points of the 16 columns of one block: w = scale · (q − zero) + offset.
template <class Columns, ZeroPoints zeros>
struct BlockScales {
  using Ints = typename Columns::Ints;
  Columns scale, offset, less_zero;

  BlockScales(const PackedNBits& w, int64_t panel, int64_t block) {
    const int64_t at = (panel * w.blocks() + block) * kPanel;
    scale = element(w, w.scales.get(), at);
    if constexpr (zeros == ZeroPoints::middle) less_zero = Columns::broadcast(static_cast<float>(-(1 << (w.bits - 1))));
    if constexpr (zeros == ZeroPoints::integers)
      less_zero = Columns::zero() - to_float(Ints::widen(w.offsets.get() + at));
    if constexpr (zeros == ZeroPoints::offsets) less_zero = Columns::zero(), offset = element(w, w.offsets.get(), at);
  }

  // What Σ q·x is worth, given Σ x: scale · Σ (q − zero)·x + offset · Σ x. The integers are exact in floats: they stay
  // below 256 · 255 · 128 < 2^24.
  Columns value(Ints products, float sum) const {
    const Columns sums = Columns::broadcast(sum);
    if constexpr (zeros == ZeroPoints::offsets) return fma(scale, to_float(products), offset * sums);
    return scale * fma(less_zero, sums, to_float(products));
  }

 private:
  static Columns element(const PackedNBits& w, const std::byte* array, int64_t i) {
    return w.half_scales ? Columns::load(reinterpret_cast<const Half*>(array) + i)
                         : Columns::load(reinterpret_cast<const float*>(array) + i);
  }
};

// The kind of zero points as a compile-time constant, chosen once per call.
template <ZeroPoints z>
struct Zeros {
  static constexpr ZeroPoints value = z;
};
template <class Body>
void with_zeros(ZeroPoints zeros, Body body) {
  switch (zeros) {
    case ZeroPoints::middle: return body(Zeros<ZeroPoints::middle>{});
    case ZeroPoints::integers: return body(Zeros<ZeroPoints::integers>{});
    case ZeroPoints::offsets: return body(Zeros<ZeroPoints::offsets>{});
  }
}

// Adds Σ q·x of one block to total[row]; the rows' activations lie `stride` apart.
template <class Dot, int rows>
[[gnu::always_inline]] inline void dot_block(const uint8_t* data, int bits, int64_t block, const int8_t* x,
                                             int64_t stride, typename Dot::Ints (&total)[rows]) {
  if (bits == 8) {
    for (int64_t i = 0; i < block; i += 4) {
      const auto w = Dot::load(data + i * kPanel);
      for (int r = 0; r < rows; ++r) total[r] = Dot::dot(total[r], w, x + r * stride + i);
    }
    return;
  }
  for (int64_t begin = 0; begin < block; begin += Dot::kSmallRun) {
    const int64_t end = Dot::kSmallRun < block - begin ? begin + Dot::kSmallRun : block;
    typename Dot::Small some[rows];
    for (int r = 0; r < rows; ++r) some[r] = Dot::small(total[r]);
    for (int64_t i = begin; i < end; i += 8) {
      const auto pair = Dot::load(data + i * kPanel / 2);
      const auto even = Dot::low(pair), odd = Dot::high(pair);
      for (int r = 0; r < rows; ++r) some[r] = Dot::dot_small(some[r], even, x + r * stride + i);
      for (int r = 0; r < rows; ++r) some[r] = Dot::dot_small(some[r], odd, x + r * stride + i + 4);
    }
    for (int r = 0; r < rows; ++r) total[r] = Dot::add(total[r], some[r]);
    if constexpr (Dot::kSmallRun == kUnlimited) return;
  }
}

template <class Columns, class Dot, int rows, ZeroPoints zeros>
void nbits_q8_tile(const QuantizedRows& x, int64_t row, const PackedNBits& w, int64_t panel, float* c, int64_t ldc) {
  const int64_t blocks = w.blocks(), stride = blocks * w.block, width = w.n - panel * kPanel;
  const int8_t* q = x.q + row * stride;
  Columns total[rows];
  for (int r = 0; r < rows; ++r) total[r] = Columns::zero();
  for (int64_t b = 0; b < blocks; ++b) {
    const uint8_t* data = w.block_data(panel, b);
    Dot::prefetch(data, w.block_bytes());
    const BlockScales<Columns, zeros> s(w, panel, b);
    typename Columns::Ints products[rows];
    for (int r = 0; r < rows; ++r) products[r] = Columns::Ints::zero();
    dot_block<Dot, rows>(data, w.bits, w.block, q + b * w.block, stride, products);
    for (int r = 0; r < rows; ++r) {
      const int64_t at = (row + r) * blocks + b;
      total[r] = fma(Columns::broadcast(x.scales[at]), s.value(products[r], x.sums[at]), total[r]);
    }
  }
  if (rows % 2 == 0 && x.terms == 2) {
    for (int r = 0; r + 1 < rows; r += 2) (total[r] + total[r + 1]).store(c + r / 2 * ldc, at_most(kPanel, width));
  } else {
    for (int r = 0; r < rows; ++r) total[r].store(c + r * ldc, at_most(kPanel, width));
  }
}

// Cache blocking: weights of a group of panels stay in L2 while chunks of rows, that fit L1, pass over them.
inline constexpr int64_t kGroupBytes = 256 << 10, kChunkBytes = 20 << 10;

template <class Columns, class Dot>
void gemm_nbits_q8(const QuantizedRows& x, const PackedNBits& w, int64_t panel_begin, int64_t panel_end, float* c,
                   int64_t ldc) noexcept {
  const int64_t row_bytes = w.blocks() * w.block;
  const int64_t group = at_least(1, kGroupBytes / at_least(1, w.blocks() * w.block_bytes()));
  const int64_t chunk = at_least(1, kChunkBytes / at_least(1, row_bytes) / Dot::kRows) * Dot::kRows;
  with_zeros(w.zeros, [&](auto zeros) {
    const auto one_panel = [&](int64_t begin, int64_t rows, int64_t panel) {
      each_row_block<Dot::kRows>(rows, [&](int64_t r, auto count) {
        const int64_t row = begin + r;
        float* to = c + row / x.terms * ldc + panel * kPanel;
        nbits_q8_tile<Columns, Dot, decltype(count)::value, decltype(zeros)::value>(x, row, w, panel, to, ldc);
      });
    };
    for (int64_t p = panel_begin; p < panel_end; p += group) {
      for (int64_t i = 0; i < x.rows; i += chunk) {
        for (int64_t j = p; j < at_most(panel_end, p + group); ++j) one_panel(i, at_most(chunk, x.rows - i), j);
      }
    }
  });
}

// One block with float activations: adds a·(q − zero) to `sum`, or a·(scale·q + offset) where zero points are offsets.
template <int bits, class Columns, int rows, ZeroPoints zeros>
void dot_block_f32(const uint8_t* data, int64_t count, const BlockScales<Columns, zeros>& s, const float* a,
                   int64_t lda, Columns* sum) {
  using Ints = typename Columns::Ints;
  const typename Columns::Nibbles nibbles(zeros == ZeroPoints::middle ? 8.0f : 0.0f);
  const auto step = [&](const Ints& word, int64_t i, int shift) {
    Columns q;
    if constexpr (bits == 8) q = to_float(word.byte(shift)) + s.less_zero;
    if constexpr (bits == 4) q = nibbles.at(word, shift);
    if constexpr (bits == 4 && zeros == ZeroPoints::integers) q = q + s.less_zero;
    const Columns value = zeros == ZeroPoints::offsets ? fma(s.scale, q, s.offset) : q;
    for (int r = 0; r < rows; ++r) sum[r] = fma(Columns::broadcast(a[r * lda + i]), value, sum[r]);
  };
  // A 64-byte group holds 4 bytes per column: four weights of 8 bits, or eight of 4 bits, evens low and odds high.
  constexpr int64_t per_group = 32 / bits;
  int64_t i = 0;
  for (; i + per_group <= count; i += per_group, data += 64) {
    const Ints word = Ints::load(data);
#pragma GCC unroll 8
    for (int u = 0; u < per_group; ++u) step(word, i + u, u % 4 * 8 + u / 4 * 4);
  }
  for (int u = 0; i + u < count; ++u) step(Ints::load(data), i + u, u % 4 * 8 + u / 4 * 4);
}

template <class Columns, int bits, int rows, ZeroPoints zeros>
void nbits_f32_tile(const float* a, int64_t lda, const PackedNBits& w, int64_t panel, float* c, int64_t ldc) {
  const int64_t width = w.n - panel * kPanel;
  Columns total[rows];
  for (int r = 0; r < rows; ++r) total[r] = Columns::zero();
  for (int64_t b = 0; b < w.blocks(); ++b) {
    const int64_t begin = b * w.block, count = w.k - begin < w.block ? w.k - begin : w.block;
    const uint8_t* data = w.block_data(panel, b);
    const BlockScales<Columns, zeros> s(w, panel, b);
    if constexpr (zeros == ZeroPoints::offsets) {
      dot_block_f32<bits, Columns, rows>(data, count, s, a + begin, lda, total);
      continue;
    }
    Columns sum[rows];
    for (int r = 0; r < rows; ++r) sum[r] = Columns::zero();
    dot_block_f32<bits, Columns, rows>(data, count, s, a + begin, lda, sum);
    for (int r = 0; r < rows; ++r) total[r] = fma(s.scale, sum[r], total[r]);
  }
  for (int r = 0; r < rows; ++r) total[r].store(c + r * ldc, width < kPanel ? width : kPanel);
}

template <class Columns>
void gemm_nbits_f32(const float* a, int64_t lda, int64_t m, const PackedNBits& w, int64_t panel_begin,
                    int64_t panel_end, float* c, int64_t ldc) noexcept {
  with_zeros(w.zeros, [&](auto zeros) {
    for (int64_t p = panel_begin; p < panel_end; ++p) {
      each_row_block<Columns::kRows>(m, [&](int64_t i, auto count) {
        constexpr int rows = decltype(count)::value;
        const auto tile = w.bits == 4 ? nbits_f32_tile<Columns, 4, rows, decltype(zeros)::value>
                                      : nbits_f32_tile<Columns, 8, rows, decltype(zeros)::value>;
        tile(a + i * lda, lda, w, p, c + i * ldc + p * kPanel, ldc);
      });
    }
  });
}

}  // namespace nxrt::portable
