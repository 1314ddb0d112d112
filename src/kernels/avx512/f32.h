// Sixteen floats in one register: the facade the portable kernels are written over. See portable/vectors.h.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "base/half.h"

namespace nxrt::avx512 {
namespace {  // internal linkage: no other object may share code built with this ISA's flags

struct F32 {
  static constexpr int lanes = 16;
  static constexpr int heads = 4;  // query heads whose scores fit the registers at once
  struct Mask {
    __mmask16 v;
  };
  __m512 v;

  static __mmask16 first_bits(int64_t count) { return static_cast<__mmask16>((1u << count) - 1u); }
  static Mask first(int64_t count) { return {first_bits(count)}; }
  static F32 zero() { return {_mm512_setzero_ps()}; }
  static F32 fill(float x) { return {_mm512_set1_ps(x)}; }

  static F32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static F32 load(const float* p, int64_t count) { return {_mm512_maskz_loadu_ps(first_bits(count), p)}; }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store(float* p, int64_t count) const { _mm512_mask_storeu_ps(p, first_bits(count), v); }

  static F32 load(const Half* p) { return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))}; }
  static F32 load(const Half* p, int64_t count) {
    return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first_bits(count), p))};
  }
  __m256i half() const { return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT); }
  void store(Half* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), half()); }
  void store(Half* p, int64_t count) const { _mm256_mask_storeu_epi16(p, first_bits(count), half()); }

  static F32 widen(__m256i b) { return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(b), 16))}; }
  static F32 load(const BFloat16* p) { return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static F32 load(const BFloat16* p, int64_t count) { return widen(_mm256_maskz_loadu_epi16(first_bits(count), p)); }
  __m256i bfloat16() const {  // nearest even; NaN keeps its high bits and becomes quiet
    const __m512i u = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd);
    const __m512i quiet = _mm512_or_si512(u, _mm512_set1_epi32(0x400000));
    const __m512i chosen = _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), quiet);
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(chosen, 16));
  }
  void store(BFloat16* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), bfloat16()); }
  void store(BFloat16* p, int64_t count) const { _mm256_mask_storeu_epi16(p, first_bits(count), bfloat16()); }

  // Whole numbers in [-128, 127].
  void store_int8(int8_t* p) const {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v)));
  }
};

inline F32 operator+(F32 a, F32 b) { return {_mm512_add_ps(a.v, b.v)}; }
inline F32 operator-(F32 a, F32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline F32 operator*(F32 a, F32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline F32 operator/(F32 a, F32 b) { return {_mm512_div_ps(a.v, b.v)}; }
inline F32 fma(F32 a, F32 b, F32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline F32 min(F32 a, F32 b) { return {_mm512_min_ps(a.v, b.v)}; }  // b when either is NaN
inline F32 max(F32 a, F32 b) { return {_mm512_max_ps(a.v, b.v)}; }  // b when either is NaN
inline F32 sqrt(F32 a) { return {_mm512_sqrt_ps(a.v)}; }
inline F32 abs(F32 a) { return {_mm512_abs_ps(a.v)}; }
inline F32 neg(F32 a) { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))}; }
inline F32 floor(F32 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)}; }
inline F32 ceil(F32 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)}; }
inline F32 round(F32 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline F32 trunc(F32 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)}; }
inline F32 copysign(F32 magnitude, F32 sign) {
  const __m512 bit = _mm512_set1_ps(-0.0f);
  return {_mm512_or_ps(_mm512_andnot_ps(bit, magnitude.v), _mm512_and_ps(bit, sign.v))};
}
inline F32::Mask less(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
inline F32::Mask equal(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
inline F32::Mask is_nan(F32 a) { return {_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q)}; }
inline F32 select(F32::Mask mask, F32 yes, F32 no) { return {_mm512_mask_mov_ps(no.v, mask.v, yes.v)}; }
inline bool any(F32::Mask mask) { return mask.v != 0; }

// x · 2^n for whole n, rounded once.
inline F32 scale2(F32 x, F32 n) { return {_mm512_scalef_ps(x.v, n.v)}; }
// x = mantissa · 2^exponent, mantissa in [1, 2), for finite x > 0.
inline void split(F32 x, F32* mantissa, F32* exponent) {
  mantissa->v = _mm512_getmant_ps(x.v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
  exponent->v = _mm512_getexp_ps(x.v);
}

inline float sum(F32 a) { return _mm512_reduce_add_ps(a.v); }
inline float largest(F32 a) { return _mm512_reduce_max_ps(a.v); }

inline __m256 fold(F32 a) { return _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1)); }
// out[i] = Σ of a[i], four at once.
inline void sums(const F32* a, float* out) {
  const __m256 ab = _mm256_hadd_ps(fold(a[0]), fold(a[1])), cd = _mm256_hadd_ps(fold(a[2]), fold(a[3]));
  const __m256 abcd = _mm256_hadd_ps(ab, cd);
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(abcd), _mm256_extractf128_ps(abcd, 1)));
}

}  // namespace
}  // namespace nxrt::avx512
