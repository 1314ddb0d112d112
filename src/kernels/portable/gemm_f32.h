// f32 products over `Columns`, the facade of 16 output columns. One accumulator per output, fused along k in order,
// kept in c between chunks of k: the result of an output is the same for every m, every split into panels and every ISA
// with fma.
#pragma once

#include "kernels/kernels.h"
#include "kernels/pack.h"
#include "kernels/portable/row_blocks.h"

namespace nxrt::portable {

inline constexpr int64_t kChunk = 256;  // of k: two panels of a chunk fit L1

// A stretch of k of some panels: b + p · panel_stride + x · step are the 16 columns of panel p at x.
template <class T>  // float, or f16 and bf16 that are widened as they are read
struct Operand {
  const T* b;
  int64_t panel_stride, step, k;
  bool first;  // chunk of k: begin at 0 instead of at c
};

template <class Columns, int rows, int panels, class T>
void gemm_tile(const float* a, int64_t lda, const Operand<T>& w, float* c, int64_t ldc, int64_t columns) {
  Columns total[rows][panels];
  const auto width = [&](int p) { return p + 1 < panels ? kPanel : columns - (panels - 1) * kPanel; };
  for (int r = 0; r < rows; ++r) {
    for (int p = 0; p < panels; ++p) {
      total[r][p] = w.first ? Columns::zero() : Columns::load(c + r * ldc + p * kPanel, width(p));
    }
  }
  for (int64_t x = 0; x < w.k; ++x) {
    Columns b[panels];
    for (int p = 0; p < panels; ++p) b[p] = Columns::load(w.b + p * w.panel_stride + x * w.step);
    for (int r = 0; r < rows; ++r) {
      const auto factor = Columns::broadcast(a[r * lda + x]);
      for (int p = 0; p < panels; ++p) total[r][p] = fma(factor, b[p], total[r][p]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int p = 0; p < panels; ++p) total[r][p].store(c + r * ldc + p * kPanel, width(p));
  }
}

// All m rows of the panels that hold `columns` columns.
template <class Columns, class T>
void gemm_panels(const float* a, int64_t lda, int64_t m, const Operand<T>& w, float* c, int64_t ldc, int64_t columns) {
  each_row_block<Columns::kRows>(m, [&](int64_t i, auto count) {
    constexpr int rows = decltype(count)::value;
    constexpr int group = rows <= 2 ? Columns::kThinPanels : Columns::kPanels;
    int64_t j = 0;
    const auto at = [&](int64_t column) {
      Operand<T> from = w;
      from.b += column / kPanel * w.panel_stride;
      return from;
    };
    for (; columns - j > (group - 1) * kPanel; j += group * kPanel) {
      const int64_t some = columns - j < group * kPanel ? columns - j : group * kPanel;
      gemm_tile<Columns, rows, group>(a + i * lda, lda, at(j), c + i * ldc + j, ldc, some);
    }
    for (; j < columns; j += kPanel) {
      const int64_t some = columns - j < kPanel ? columns - j : kPanel;
      gemm_tile<Columns, rows, 1>(a + i * lda, lda, at(j), c + i * ldc + j, ldc, some);
    }
  });
}

template <class Columns, class T>
void gemm_weights(const float* a, int64_t lda, int64_t m, const PackedFloats& w, int64_t panel_begin, int64_t panel_end,
                  float* c, int64_t ldc) {
  constexpr int64_t together = 4;
  for (int64_t p = panel_begin; p < panel_end; p += together) {
    const int64_t end = p + together < panel_end ? p + together : panel_end;
    const int64_t last = end * kPanel < w.n ? end * kPanel : w.n;
    for (int64_t x = 0; x == 0 || x < w.k; x += kChunk) {
      const int64_t k = w.k - x < kChunk ? w.k - x : kChunk;
      const Operand<T> part{w.panel<T>(p) + x * kPanel, w.k * kPanel, kPanel, k, x == 0};
      gemm_panels<Columns>(a + x, lda, m, part, c + p * kPanel, ldc, last - p * kPanel);
    }
  }
}

template <class Columns>
void gemm_f32(const float* a, int64_t lda, int64_t m, const PackedFloats& w, int64_t panel_begin, int64_t panel_end,
              float* c, int64_t ldc) noexcept {
  const auto gemm = w.dtype == DType::f16    ? gemm_weights<Columns, Half>
                    : w.dtype == DType::bf16 ? gemm_weights<Columns, BFloat16>
                                             : gemm_weights<Columns, float>;
  gemm(a, lda, m, w, panel_begin, panel_end, c, ldc);
}

// Sixteen columns of b as a packed panel: copied when they are the last few or transposed, so that reads stay in
// bounds.
template <class Columns>
void copy_panel(const float* b, int64_t ldb, int64_t columns, int64_t k, float* panel) {
  for (int64_t x = 0; x < k; ++x) Columns::load(b + x * ldb, columns).store(panel + x * kPanel);
}

template <class Columns>
void transpose_panel(const float* b, int64_t ldb, int64_t columns, int64_t k, float* panel) {
  if (columns < kPanel) {
    for (int64_t x = 0; x < k; ++x) Columns::zero().store(panel + x * kPanel);
  }
  const int64_t tiles_of_k = k / 8 * 8, tiled_columns = columns / 8 * 8;
  for (int64_t j = 0; j < tiled_columns; j += 8) {
    for (int64_t x = 0; x < tiles_of_k; x += 8)
      Columns::transpose8(b + j * ldb + x, ldb, panel + x * kPanel + j, kPanel);
  }
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t x = j < tiled_columns ? tiles_of_k : 0; x < k; ++x) panel[x * kPanel + j] = b[j * ldb + x];
  }
}

struct Matrix {
  const float* data;
  int64_t ld;
  bool transposed;
  const float* at(int64_t x, int64_t j) const { return transposed ? data + j * ld + x : data + x * ld + j; }
};

// One chunk of k of the columns [j, j + columns), through a packed copy unless whole panels can be read where they lie.
template <class Columns>
void gemm_plain_chunk(const float* a, int64_t lda, int64_t m, const Matrix& b, int64_t x, int64_t j, int64_t k,
                      int64_t columns, float* c, int64_t ldc) {
  const bool first = x == 0;
  if (!b.transposed && columns % kPanel == 0) {
    const Operand<float> part{b.at(x, j), kPanel, b.ld, k, first};
    return gemm_panels<Columns>(a + x, lda, m, part, c + j, ldc, columns);
  }
  alignas(64) float panel[kChunk * kPanel];
  for (int64_t p = 0; p < columns; p += kPanel) {
    const int64_t some = columns - p < kPanel ? columns - p : kPanel;
    if (b.transposed) {
      transpose_panel<Columns>(b.at(x, j + p), b.ld, some, k, panel);
    } else {
      copy_panel<Columns>(b.at(x, j + p), b.ld, some, k, panel);
    }
    const Operand<float> part{panel, 0, kPanel, k, first};
    gemm_panels<Columns>(a + x, lda, m, part, c + j + p, ldc, some);
  }
}

template <class Columns>
void gemm_f32_plain(const float* a, int64_t lda, const float* b, int64_t ldb, bool b_transposed, float* c, int64_t ldc,
                    int64_t m, int64_t n, int64_t k) noexcept {
  const Matrix matrix{b, ldb, b_transposed};
  constexpr int64_t together = 4 * kPanel;
  for (int64_t j = 0; j < n; j += together) {
    const int64_t columns = n - j < together ? n - j : together;
    const int64_t whole = columns / kPanel * kPanel;
    for (int64_t x = 0; x == 0 || x < k; x += kChunk) {
      const int64_t some = k - x < kChunk ? k - x : kChunk;
      if (whole > 0) gemm_plain_chunk<Columns>(a, lda, m, matrix, x, j, some, whole, c, ldc);
      if (whole < columns) gemm_plain_chunk<Columns>(a, lda, m, matrix, x, j + whole, some, columns - whole, c, ldc);
    }
  }
}

template <class Columns>
void install_gemm_f32(Kernels& k) {
  k.gemm_f32 = gemm_f32<Columns>;
  k.gemm_f32_plain = gemm_f32_plain<Columns>;
}

}  // namespace nxrt::portable
