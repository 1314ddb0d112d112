// Sixteen output columns in two registers: the facade of the matrix products. See portable/gemm_f32.h, gemm_nbits.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "base/half.h"
#include "kernels/avx2/transpose.h"

namespace nxrt::avx2 {
namespace {  // internal linkage: no other object may share code built with this ISA's flags

struct Ints {
  __m256i low, high;
  static Ints zero() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  static Ints fill(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
  static Ints load(const uint8_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
  }
  static Ints widen(const std::byte* p) {
    return {_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))),
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 8)))};
  }
  Ints masked(int shift, int mask) const {
    const __m256i m = _mm256_set1_epi32(mask);
    return {_mm256_and_si256(_mm256_srli_epi32(low, shift), m), _mm256_and_si256(_mm256_srli_epi32(high, shift), m)};
  }
  Ints byte(int shift) const { return masked(shift, 255); }
};
inline Ints operator+(Ints a, Ints b) { return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)}; }
inline Ints operator-(Ints a, Ints b) { return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)}; }
inline Ints operator*(Ints a, Ints b) { return {_mm256_mullo_epi32(a.low, b.low), _mm256_mullo_epi32(a.high, b.high)}; }

struct Columns;

// The value of a nibble less a constant.
struct Nibbles {
  __m256 less;
  explicit Nibbles(float constant) : less(_mm256_set1_ps(constant)) {}
  Columns at(Ints word, int shift) const;
};

struct Columns {
  static constexpr int kRows = 6, kPanels = 1, kThinPanels = 2;  // 12 of 16 registers; 8 for thin products
  using Ints = avx2::Ints;
  using Nibbles = avx2::Nibbles;
  __m256 low, high;

  static __m256i first(int64_t count) {  // the first of 8, none for count <= 0, all for count >= 8
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), index);
  }
  static void transpose8(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
    avx2::transpose8(from, from_stride, to, to_stride);
  }
  static Columns zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static Columns broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static Columns load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static Columns load(const float* p, int64_t count) {
    return {_mm256_maskload_ps(p, first(count)), _mm256_maskload_ps(p + 8, first(count - 8))};
  }
  static Columns load(const Half* p) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
            _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8)))};
  }
  static Columns load(const BFloat16* p) { return {widen8(p), widen8(p + 8)}; }
  static __m256 widen8(const BFloat16* p) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  void store(float* p) const {
    _mm256_storeu_ps(p, low);
    _mm256_storeu_ps(p + 8, high);
  }
  void store(float* p, int64_t count) const {
    _mm256_maskstore_ps(p, first(count), low);
    _mm256_maskstore_ps(p + 8, first(count - 8), high);
  }
};
inline Columns operator*(Columns a, Columns b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
inline Columns fma(Columns a, Columns b, Columns c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
inline Columns to_float(Ints a) { return {_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)}; }
inline Columns operator+(Columns a, Columns b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
inline Columns operator-(Columns a, Columns b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
inline Columns Nibbles::at(Ints word, int shift) const {
  return to_float(word.masked(shift, 15)) - Columns{less, less};
}

}  // namespace
}  // namespace nxrt::avx2
