// Every half and bfloat16, and the rounding of every float near a tie, against a definition in double.
#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nxrt {
namespace {

double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31) return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Half, EveryValueWidensExactlyAndComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Half h{static_cast<uint16_t>(bits)};
    const double expected = half_value(h.bits);
    const float wide = to_float(h);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(wide)) << bits;
      EXPECT_TRUE(std::isnan(to_float(to_half(wide)))) << bits;
    } else {
      EXPECT_EQ(static_cast<double>(wide), expected) << bits;
      EXPECT_EQ(to_half(wide).bits, h.bits) << bits;
    }
  }
}

// Between each pair of neighbours: the midpoint goes to the even one, and the floats beside it to the nearer one.
TEST(Half, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = half_value(static_cast<uint16_t>(bits)), high = half_value(static_cast<uint16_t>(bits + 1));
    const float middle = static_cast<float>((low + high) / 2);
    EXPECT_EQ(to_half(middle).bits, bits & 1 ? bits + 1 : bits);
    EXPECT_EQ(to_half(std::nextafter(middle, 0.0f)).bits, bits);
    EXPECT_EQ(to_half(std::nextafter(middle, 1e9f)).bits, bits + 1);
  }
  EXPECT_EQ(to_half(65519.9f).bits, 0x7bff);
  EXPECT_EQ(to_half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(to_half(-1e30f).bits, 0xfc00);
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsNaN) {
  for (uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const float low = to_float(BFloat16{static_cast<uint16_t>(bits)});
    const float middle = float_from((bits << 16) | 0x8000u);
    EXPECT_EQ(to_bfloat16(low).bits, bits);
    EXPECT_EQ(to_bfloat16(middle).bits, bits & 1 ? bits + 1 : bits);
  }
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(float_from(0x7f800001u)))));
}

}  // namespace
}  // namespace nxrt
