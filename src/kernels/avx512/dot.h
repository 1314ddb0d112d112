// Integer dot products of 16 columns with the AVX-512 BW multipliers, for CPUs without VNNI. See avx2/dot.h.
#pragma once

#include <cstring>

#include "kernels/avx512/columns.h"

namespace nxrt::avx512 {
namespace {

struct Dot {
  static constexpr int64_t kAhead = 2048;  // bytes
  static constexpr int kRows = 8;
  static constexpr int64_t kSmallRun = 32;  // weights along k whose sums fit int16: 16 · 15 · 127 = 30480
  using Ints = avx512::Ints;
  struct Small {
    __m512i v;
    static Small zero() { return {_mm512_setzero_si512()}; }
  };

  // The hardware prefetcher stops at a page's end; these reach over it.
  static void prefetch(const uint8_t* p, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 64) _mm_prefetch(reinterpret_cast<const char*>(p + kAhead + i), _MM_HINT_T0);
  }
  static Ints load(const uint8_t* p) { return Ints::load(p); }
  static Ints low(Ints pair) { return {_mm512_and_si512(pair.v, _mm512_set1_epi8(15))}; }
  static Ints high(Ints pair) { return low({_mm512_srli_epi16(pair.v, 4)}); }

  static __m512i four(const int8_t* x) {
    int32_t bytes;
    std::memcpy(&bytes, x, 4);
    return _mm512_set1_epi32(bytes);
  }
  static Small dot_small(Small total, Ints w, const int8_t* x) {
    return {_mm512_add_epi16(total.v, _mm512_maddubs_epi16(w.v, four(x)))};
  }
  static Small small(const Ints&) { return Small::zero(); }
  static Ints add(Ints total, Small some) { return total + Ints{_mm512_madd_epi16(some.v, _mm512_set1_epi16(1))}; }
  static Ints dot(Ints total, Ints w, const int8_t* x) {
    const __m512i activations = four(x);
    const __m512i even = _mm512_srai_epi16(_mm512_slli_epi16(activations, 8), 8),
                  odd = _mm512_srai_epi16(activations, 8);
    const __m512i evens = _mm512_madd_epi16(_mm512_and_si512(w.v, _mm512_set1_epi16(255)), even);
    return total + Ints{evens} + Ints{_mm512_madd_epi16(_mm512_srli_epi16(w.v, 8), odd)};
  }
};

}  // namespace
}  // namespace nxrt::avx512
