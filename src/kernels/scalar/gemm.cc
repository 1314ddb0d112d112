// The definitions of the matrix products, in the accumulation order every ISA keeps: one accumulator per output, along
// k.
#include <algorithm>
#include <cmath>

#include "kernels/pack.h"
#include "kernels/scalar/parts.h"

namespace nxrt::scalar {
namespace {

float widened(float x) { return x; }
float widened(Half x) { return to_float(x); }
float widened(BFloat16 x) { return to_float(x); }

template <class T>
void gemm_weights(const float* a, int64_t lda, int64_t m, const PackedFloats& w, int64_t panel_begin, int64_t panel_end,
                  float* c, int64_t ldc) {
  for (int64_t p = panel_begin; p < panel_end; ++p) {
    const int64_t columns = std::min(kPanel, w.n - p * kPanel);
    const T* panel = w.panel<T>(p);
    for (int64_t i = 0; i < m; ++i) {
      float total[kPanel] = {};
      for (int64_t x = 0; x < w.k; ++x) {
        for (int64_t j = 0; j < kPanel; ++j) total[j] += a[i * lda + x] * widened(panel[x * kPanel + j]);
      }
      std::copy_n(total, columns, c + i * ldc + p * kPanel);
    }
  }
}

void gemm_f32(const float* a, int64_t lda, int64_t m, const PackedFloats& w, int64_t panel_begin, int64_t panel_end,
              float* c, int64_t ldc) noexcept {
  const auto gemm = w.dtype == DType::f16    ? gemm_weights<Half>
                    : w.dtype == DType::bf16 ? gemm_weights<BFloat16>
                                             : gemm_weights<float>;
  gemm(a, lda, m, w, panel_begin, panel_end, c, ldc);
}

void gemm_f32_plain(const float* a, int64_t lda, const float* b, int64_t ldb, bool b_transposed, float* c, int64_t ldc,
                    int64_t m, int64_t n, int64_t k) noexcept {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float total = 0.0f;
      for (int64_t x = 0; x < k; ++x) total += a[i * lda + x] * (b_transposed ? b[j * ldb + x] : b[x * ldb + j]);
      c[i * ldc + j] = total;
    }
  }
}

void quantize_block(const float* x, int64_t count, int64_t block, int8_t* q, float* scale, float* sum) noexcept {
  float top = 0.0f;
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) {
    finite = finite && std::isfinite(x[i]);
    top = std::max(top, std::fabs(x[i]));
  }
  // NaN and infinities have no int8 image: the block becomes NaN. A block whose inverse scale overflows becomes zero.
  const float inverse = 127.0f / top;
  const bool usable = finite && std::isfinite(inverse);
  *scale = !finite ? NAN : usable ? top / 127.0f : 0.0f;
  *sum = 0.0f;
  for (int64_t i = 0; i < block; ++i) {
    q[i] = usable && i < count ? static_cast<int8_t>(std::round(x[i] * inverse)) : int8_t{0};
    *sum += static_cast<float>(q[i]);
  }
}

void quantize_row(const float* x, int64_t k, int64_t block, int8_t* q, float* scales, float* sums,
                  float* rest) noexcept {
  for (int64_t begin = 0, b = 0; begin < k; begin += block, ++b) {
    quantize_block(x + begin, std::min(block, k - begin), block, q + begin, scales + b, sums + b);
  }
  for (int64_t i = 0; rest && i < k; ++i) rest[i] = std::fma(-scales[i / block], static_cast<float>(q[i]), x[i]);
}

// Where weight (i, j) of a panel's block lies: i along k, j the column.
int weight(const PackedNBits& w, const uint8_t* data, int64_t i, int64_t j) noexcept {
  const int64_t group = i / 4, byte = j * 4 + i % 4;
  if (w.bits == 8) return data[group * 64 + byte];
  const int pair = data[group / 2 * 64 + byte];
  return group % 2 == 0 ? pair & 15 : pair >> 4;
}

float element(const AlignedBytes& array, bool half, int64_t i) noexcept {
  return half ? to_float(reinterpret_cast<const Half*>(array.get())[i])
              : reinterpret_cast<const float*>(array.get())[i];
}

// Column j of one block of a panel: w = scale · (q − zero) + offset.
struct Column {
  float scale, offset = 0.0f;
  int zero = 0;
  Column(const PackedNBits& w, int64_t panel, int64_t block, int64_t j) {
    const int64_t i = (panel * w.blocks() + block) * kPanel + j;
    scale = element(w.scales, w.half_scales, i);
    if (w.zeros == ZeroPoints::middle) zero = 1 << (w.bits - 1);
    if (w.zeros == ZeroPoints::integers) zero = std::to_integer<int>(w.offsets[i]);
    if (w.zeros == ZeroPoints::offsets) offset = element(w.offsets, w.half_scales, i);
  }
};

float nbits_q8_output(const QuantizedRows& x, int64_t row, const PackedNBits& w, int64_t panel, int64_t j) noexcept {
  float total = 0.0f;
  for (int64_t b = 0; b < w.blocks(); ++b) {
    const int64_t at = row * x.blocks() + b;
    const Column column(w, panel, b, j);
    int32_t products = -column.zero * static_cast<int32_t>(x.sums[at]);
    for (int64_t i = 0; i < w.block; ++i) products += weight(w, w.block_data(panel, b), i, j) * x.q[at * x.block + i];
    float value = column.scale * static_cast<float>(products);
    if (w.zeros == ZeroPoints::offsets) {
      value = std::fma(column.scale, static_cast<float>(products), column.offset * x.sums[at]);
    }
    total = std::fma(x.scales[at], value, total);
  }
  return total;
}

void gemm_nbits_q8(const QuantizedRows& x, const PackedNBits& w, int64_t panel_begin, int64_t panel_end, float* c,
                   int64_t ldc) noexcept {
  for (int64_t i = 0; i < x.rows / x.terms; ++i) {
    for (int64_t j = panel_begin * kPanel; j < std::min(w.n, panel_end * kPanel); ++j) {
      float* to = c + i * ldc + j;
      *to = nbits_q8_output(x, i * x.terms, w, j / kPanel, j % kPanel);
      if (x.terms == 2) *to += nbits_q8_output(x, i * 2 + 1, w, j / kPanel, j % kPanel);
    }
  }
}

float nbits_f32_output(const float* a, const PackedNBits& w, int64_t panel, int64_t j) noexcept {
  double total = 0.0;
  for (int64_t b = 0; b < w.blocks(); ++b) {
    const Column column(w, panel, b, j);
    for (int64_t i = 0; i < std::min(w.block, w.k - b * w.block); ++i) {
      const int q = weight(w, w.block_data(panel, b), i, j) - column.zero;
      total += static_cast<double>(a[b * w.block + i]) * (column.scale * static_cast<float>(q) + column.offset);
    }
  }
  return static_cast<float>(total);
}

void gemm_nbits_f32(const float* a, int64_t lda, int64_t m, const PackedNBits& w, int64_t panel_begin,
                    int64_t panel_end, float* c, int64_t ldc) noexcept {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = panel_begin * kPanel; j < std::min(w.n, panel_end * kPanel); ++j) {
      c[i * ldc + j] = nbits_f32_output(a + i * lda, w, j / kPanel, j % kPanel);
    }
  }
}

}  // namespace

void install_gemm(Kernels& k) {
  k.gemm_f32 = gemm_f32;
  k.gemm_f32_plain = gemm_f32_plain;
  k.quantize_row = quantize_row;
  k.gemm_nbits_q8 = gemm_nbits_q8;
  k.gemm_nbits_f32 = gemm_nbits_f32;
}

}  // namespace nxrt::scalar
