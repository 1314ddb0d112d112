// Sixteen output columns in one register: the facade of the matrix products. See portable/gemm_f32.h, gemm_nbits.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "base/half.h"
#include "kernels/avx2/transpose.h"

namespace nxrt::avx512 {
namespace {  // internal linkage: no other object may share code built with this ISA's flags

struct Ints {
  __m512i v;
  static Ints zero() { return {_mm512_setzero_si512()}; }
  static Ints fill(int32_t x) { return {_mm512_set1_epi32(x)}; }
  static Ints load(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }
  static Ints widen(const std::byte* p) {
    return {_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
  }
  Ints byte(int shift) const {
    return {_mm512_and_si512(_mm512_srli_epi32(v, static_cast<unsigned>(shift)), _mm512_set1_epi32(255))};
  }
};
inline Ints operator+(Ints a, Ints b) { return {_mm512_add_epi32(a.v, b.v)}; }
inline Ints operator-(Ints a, Ints b) { return {_mm512_sub_epi32(a.v, b.v)}; }
inline Ints operator*(Ints a, Ints b) { return {_mm512_mullo_epi32(a.v, b.v)}; }

struct Columns;

// The value of a nibble less a constant, looked up: a permutation reads only the low four bits of each index.
struct Nibbles {
  __m512 table;
  explicit Nibbles(float less)
      : table(_mm512_sub_ps(_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                            _mm512_set1_ps(less))) {}
  Columns at(Ints word, int shift) const;
};

struct Columns {
  static constexpr int kRows = 8, kPanels = 2, kThinPanels = 4;  // 16 accumulators, 8 for thin products
  using Ints = avx512::Ints;
  using Nibbles = avx512::Nibbles;
  __m512 v;

  static __mmask16 first(int64_t count) { return static_cast<__mmask16>((1u << count) - 1u); }
  static void transpose8(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
    avx2::transpose8(from, from_stride, to, to_stride);
  }
  static Columns zero() { return {_mm512_setzero_ps()}; }
  static Columns broadcast(float x) { return {_mm512_set1_ps(x)}; }
  static Columns load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Columns load(const float* p, int64_t count) { return {_mm512_maskz_loadu_ps(first(count), p)}; }
  static Columns load(const Half* p) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
  static Columns load(const BFloat16* p) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))};
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store(float* p, int64_t count) const { _mm512_mask_storeu_ps(p, first(count), v); }
};
inline Columns Nibbles::at(Ints word, int shift) const {
  return {_mm512_permutexvar_ps(_mm512_srli_epi32(word.v, static_cast<unsigned>(shift)), table)};
}
inline Columns operator+(Columns a, Columns b) { return {_mm512_add_ps(a.v, b.v)}; }
inline Columns operator-(Columns a, Columns b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline Columns operator*(Columns a, Columns b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Columns fma(Columns a, Columns b, Columns c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline Columns to_float(Ints a) { return {_mm512_cvtepi32_ps(a.v)}; }

}  // namespace
}  // namespace nxrt::avx512
