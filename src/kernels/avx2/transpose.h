// An 8×8 transpose in registers, for AVX2 and everything above it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace nxrt::avx2 {
namespace {  // internal linkage: no other object may share code built with this ISA's flags

// to[x · to_stride + j] = from[j · from_stride + x] for x, j in [0, 8).
inline void transpose8(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  __m256 half[8], pair[8];
  for (int j = 0; j < 4; ++j) {  // columns 0-3 of rows j and j + 4, then columns 4-7
    const float* low = from + j * from_stride;
    const float* high = from + (j + 4) * from_stride;
    half[j] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
    half[j + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low + 4)), _mm_loadu_ps(high + 4), 1);
  }
  for (int h = 0; h < 8; h += 4) {
    pair[h] = _mm256_unpacklo_ps(half[h], half[h + 1]);
    pair[h + 1] = _mm256_unpackhi_ps(half[h], half[h + 1]);
    pair[h + 2] = _mm256_unpacklo_ps(half[h + 2], half[h + 3]);
    pair[h + 3] = _mm256_unpackhi_ps(half[h + 2], half[h + 3]);
    _mm256_storeu_ps(to + h * to_stride, _mm256_shuffle_ps(pair[h], pair[h + 2], 0x44));
    _mm256_storeu_ps(to + (h + 1) * to_stride, _mm256_shuffle_ps(pair[h], pair[h + 2], 0xee));
    _mm256_storeu_ps(to + (h + 2) * to_stride, _mm256_shuffle_ps(pair[h + 1], pair[h + 3], 0x44));
    _mm256_storeu_ps(to + (h + 3) * to_stride, _mm256_shuffle_ps(pair[h + 1], pair[h + 3], 0xee));
  }
}

}  // namespace
}  // namespace nxrt::avx2
