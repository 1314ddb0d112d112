// Integer dot products of 16 columns with the AVX2 multipliers. VPMADDUBSW adds two products in a saturating int16:
// enough for 4-bit weights (15 · 127 · 2 each, eight of them fit), not for 8-bit ones, which are widened first.
#pragma once

#include <cstring>

#include "kernels/avx2/columns.h"

namespace nxrt::avx2 {
namespace {

struct Dot {
  static constexpr int64_t kAhead = 2048;  // bytes
  static constexpr int kRows = 4;
  static constexpr int64_t kSmallRun = 32;  // weights along k whose sums fit int16: 16 · 15 · 127 = 30480
  using Ints = avx2::Ints;
  struct Small {
    __m256i low, high;
    static Small zero() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  };

  // The hardware prefetcher stops at a page's end; these reach over it.
  static void prefetch(const uint8_t* p, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 64) _mm_prefetch(reinterpret_cast<const char*>(p + kAhead + i), _MM_HINT_T0);
  }
  static Ints load(const uint8_t* p) { return Ints::load(p); }
  static Ints low(Ints pair) {
    const __m256i mask = _mm256_set1_epi8(15);
    return {_mm256_and_si256(pair.low, mask), _mm256_and_si256(pair.high, mask)};
  }
  static Ints high(Ints pair) { return low({_mm256_srli_epi16(pair.low, 4), _mm256_srli_epi16(pair.high, 4)}); }

  static __m256i four(const int8_t* x) {
    int32_t bytes;
    std::memcpy(&bytes, x, 4);
    return _mm256_set1_epi32(bytes);
  }
  static Small dot_small(Small total, Ints w, const int8_t* x) {
    const __m256i activations = four(x);
    return {_mm256_add_epi16(total.low, _mm256_maddubs_epi16(w.low, activations)),
            _mm256_add_epi16(total.high, _mm256_maddubs_epi16(w.high, activations))};
  }
  static Small small(const Ints&) { return Small::zero(); }
  static Ints add(Ints total, Small some) {
    const __m256i ones = _mm256_set1_epi16(1);
    return total + Ints{_mm256_madd_epi16(some.low, ones), _mm256_madd_epi16(some.high, ones)};
  }

  static __m256i products(__m256i w, __m256i even, __m256i odd) {
    const __m256i evens = _mm256_madd_epi16(_mm256_and_si256(w, _mm256_set1_epi16(255)), even);
    return _mm256_add_epi32(evens, _mm256_madd_epi16(_mm256_srli_epi16(w, 8), odd));
  }
  static Ints dot(Ints total, Ints w, const int8_t* x) {
    const __m256i activations = four(x);
    const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(activations, 8), 8),
                  odd = _mm256_srai_epi16(activations, 8);
    return total + Ints{products(w.low, even, odd), products(w.high, even, odd)};
  }
};

}  // namespace
}  // namespace nxrt::avx2
