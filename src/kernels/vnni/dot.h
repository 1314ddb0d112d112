// Integer dot products of 16 columns with VPDPBUSD: unsigned weights times signed activations, four at a time, in
// int32.
#pragma once

#include <cstring>

#include "kernels/avx512/columns.h"

namespace nxrt::vnni {
namespace {

struct Dot {
  static constexpr int64_t kAhead = 4096;  // bytes
  static constexpr int kRows = 8;
  static constexpr int64_t kSmallRun = INT64_MAX;
  using Ints = avx512::Ints;
  using Small = Ints;

  // The hardware prefetcher stops at a page's end; these reach over it.
  static void prefetch(const uint8_t* p, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 64) _mm_prefetch(reinterpret_cast<const char*>(p + kAhead + i), _MM_HINT_T0);
  }
  static Ints load(const uint8_t* p) { return Ints::load(p); }
  static Ints low(Ints pair) { return {_mm512_and_si512(pair.v, _mm512_set1_epi8(15))}; }
  static Ints high(Ints pair) { return low({_mm512_srli_epi16(pair.v, 4)}); }
  static Ints dot(Ints total, Ints w, const int8_t* x) {
    int32_t bytes;
    std::memcpy(&bytes, x, 4);
    return {_mm512_dpbusd_epi32(total.v, w.v, _mm512_set1_epi32(bytes))};
  }
  static Ints dot_small(Ints total, Ints w, const int8_t* x) { return dot(total, w, x); }
  static Small small(Ints total) { return total; }
  static Ints add(Ints, Small some) { return some; }
};

}  // namespace
}  // namespace nxrt::vnni
