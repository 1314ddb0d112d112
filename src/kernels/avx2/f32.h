// Eight floats in one register: the facade the portable kernels are written over. See portable/vectors.h.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "base/half.h"

namespace nxrt::avx2 {
namespace {  // internal linkage: no other object may share code built with this ISA's flags

struct F32 {
  static constexpr int lanes = 8;
  static constexpr int heads = 2;  // query heads whose scores fit the registers at once
  struct Mask {
    __m256 v;
  };
  __m256 v;

  static __m256i first_bits(int64_t count) {
    alignas(32) static constexpr int32_t kBits[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kBits + 8 - count));
  }
  static Mask first(int64_t count) { return {_mm256_castsi256_ps(first_bits(count))}; }
  static F32 zero() { return {_mm256_setzero_ps()}; }
  static F32 fill(float x) { return {_mm256_set1_ps(x)}; }

  static F32 load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static F32 load(const float* p, int64_t count) { return {_mm256_maskload_ps(p, first_bits(count))}; }
  void store(float* p) const { _mm256_storeu_ps(p, v); }
  void store(float* p, int64_t count) const { _mm256_maskstore_ps(p, first_bits(count), v); }

  static __m128i load_16bit(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
  static __m128i load_16bit(const void* p, int64_t count) {  // AVX2 has no masks for 16-bit elements
    uint16_t copy[8] = {};
    for (int64_t i = 0; i < count; ++i) copy[i] = static_cast<const uint16_t*>(p)[i];
    return load_16bit(copy);
  }
  static void store_16bit(__m128i x, void* p, int64_t count) {
    uint16_t copy[8];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(copy), x);
    for (int64_t i = 0; i < count; ++i) static_cast<uint16_t*>(p)[i] = copy[i];
  }

  static F32 load(const Half* p) { return {_mm256_cvtph_ps(load_16bit(p))}; }
  static F32 load(const Half* p, int64_t count) { return {_mm256_cvtph_ps(load_16bit(p, count))}; }
  __m128i half() const { return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT); }
  void store(Half* p) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), half()); }
  void store(Half* p, int64_t count) const { store_16bit(half(), p, count); }

  static F32 widen(__m128i b) { return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(b), 16))}; }
  static F32 load(const BFloat16* p) { return widen(load_16bit(p)); }
  static F32 load(const BFloat16* p, int64_t count) { return widen(load_16bit(p, count)); }
  __m128i bfloat16() const {  // nearest even; NaN keeps its high bits and becomes quiet
    const __m256i u = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7fff)), odd);
    const __m256i quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
    const __m256i unordered = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, unordered), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
  }
  void store(BFloat16* p) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bfloat16()); }
  void store(BFloat16* p, int64_t count) const { store_16bit(bfloat16(), p, count); }

  // Whole numbers in [-128, 127].
  void store_int8(int8_t* p) const {
    const __m256i whole = _mm256_cvttps_epi32(v);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
  }
};

inline F32 operator+(F32 a, F32 b) { return {_mm256_add_ps(a.v, b.v)}; }
inline F32 operator-(F32 a, F32 b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline F32 operator*(F32 a, F32 b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline F32 operator/(F32 a, F32 b) { return {_mm256_div_ps(a.v, b.v)}; }
inline F32 fma(F32 a, F32 b, F32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
inline F32 min(F32 a, F32 b) { return {_mm256_min_ps(a.v, b.v)}; }  // b when either is NaN
inline F32 max(F32 a, F32 b) { return {_mm256_max_ps(a.v, b.v)}; }  // b when either is NaN
inline F32 sqrt(F32 a) { return {_mm256_sqrt_ps(a.v)}; }
inline F32 abs(F32 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
inline F32 neg(F32 a) { return {_mm256_xor_ps(a.v, _mm256_set1_ps(-0.0f))}; }
inline F32 floor(F32 a) { return {_mm256_floor_ps(a.v)}; }
inline F32 ceil(F32 a) { return {_mm256_ceil_ps(a.v)}; }
inline F32 round(F32 a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline F32 trunc(F32 a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)}; }
inline F32 copysign(F32 magnitude, F32 sign) {
  const __m256 bit = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(_mm256_andnot_ps(bit, magnitude.v), _mm256_and_ps(bit, sign.v))};
}
inline F32::Mask less(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
inline F32::Mask equal(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
inline F32::Mask is_nan(F32 a) { return {_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q)}; }
inline F32 select(F32::Mask mask, F32 yes, F32 no) { return {_mm256_blendv_ps(no.v, yes.v, mask.v)}; }
inline bool any(F32::Mask mask) { return _mm256_movemask_ps(mask.v) != 0; }

inline F32 power2(__m256i n) {  // n in [-126, 127]
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23))};
}
// x · 2^n for whole n in [-252, 254]: in two steps, so that only the last one can round.
inline F32 scale2(F32 x, F32 n) {
  const __m256i all = _mm256_cvttps_epi32(n.v), part = _mm256_srai_epi32(all, 1);
  return x * power2(part) * power2(_mm256_sub_epi32(all, part));
}
// x = mantissa · 2^exponent, mantissa in [1, 2), for finite x > 0.
inline void split(F32 x, F32* mantissa, F32* exponent) {
  const F32::Mask subnormal = less(x, F32::fill(1.17549435e-38f));
  const __m256i u = _mm256_castps_si256(select(subnormal, x * F32::fill(8388608.0f), x).v);
  const __m256i biased = _mm256_srli_epi32(u, 23), fraction = _mm256_and_si256(u, _mm256_set1_epi32(0x7fffff));
  mantissa->v = _mm256_castsi256_ps(_mm256_or_si256(fraction, _mm256_set1_epi32(0x3f800000)));
  *exponent = F32{_mm256_cvtepi32_ps(biased)} - select(subnormal, F32::fill(127.0f + 23.0f), F32::fill(127.0f));
}

inline __m128 fold(F32 a) { return _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1)); }
inline float sum(F32 a) {
  const __m128 four = fold(a), two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float largest(F32 a) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
// out[i] = Σ of a[i], four at once.
inline void sums(const F32* a, float* out) {
  const __m128 ab = _mm_hadd_ps(fold(a[0]), fold(a[1])), cd = _mm_hadd_ps(fold(a[2]), fold(a[3]));
  _mm_storeu_ps(out, _mm_hadd_ps(ab, cd));
}

}  // namespace
}  // namespace nxrt::avx2
