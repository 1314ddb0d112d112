// IEEE half precision and bfloat16 as stored bits. Round to nearest even; NaN stays NaN, infinities stay infinite.
#pragma once

#include <cstdint>
#include <cstring>

namespace nxrt {

struct Half {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};

inline uint32_t float_bits(float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  return u;
}
inline float float_from(uint32_t u) {
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}

inline float to_float(Half h) {
  const uint32_t sign = (h.bits & 0x8000u) << 16, magnitude = h.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_from(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x0400u) return float_from(sign | ((magnitude << 13) + (112u << 23)));
  const float tiny = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // subnormal: magnitude · 2^-24
  return float_from(sign | float_bits(tiny));
}

inline Half to_half(float x) {
  const uint32_t u = float_bits(x), sign = (u >> 16) & 0x8000u;
  const uint32_t a = u & 0x7fffffffu;
  if (a > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u)};
  if (a >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // rounds past 65504
  if (a < 0x38800000u) {                                                 // subnormal: let the FPU round
    const float shifted = float_from(a) + 0.5f;
    return {static_cast<uint16_t>(sign | (float_bits(shifted) - 0x3f000000u))};
  }
  const uint32_t odd = (a >> 13) & 1u;
  return {static_cast<uint16_t>(sign | ((a - (112u << 23) + 0xfffu + odd) >> 13))};
}

inline float to_float(BFloat16 b) { return float_from(static_cast<uint32_t>(b.bits) << 16); }

inline BFloat16 to_bfloat16(float x) {
  const uint32_t u = float_bits(x);
  if ((u & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((u >> 16) | 0x40u)};
  return {static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16)};
}

}  // namespace nxrt
