// What the kernel tests share: buffers that are misaligned, poisoned and guarded; comparisons; lengths.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "support/every_isa.h"

namespace nxrt {

using test::EveryIsa;

inline const Kernels& definition() { return kernels_for(Isa::scalar); }

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Lengths below, at and past every vector width in use, and one long odd one.
inline constexpr int64_t kLengths[] = {0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 1027};

// n elements that start one element past an aligned address. Outputs begin as a poison that a kernel must overwrite,
// and the elements on both sides are guards that it must not.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t n) : n_(n), storage_(static_cast<size_t>(n) + 2 * kGuard, poison()) {}
  explicit Buffer(const std::vector<T>& values) : Buffer(static_cast<int64_t>(values.size())) {
    std::copy(values.begin(), values.end(), data());
  }
  T* data() { return storage_.data() + kGuard; }
  const T* data() const { return storage_.data() + kGuard; }
  std::vector<T> values() const { return {data(), data() + n_}; }
  bool guards_hold() const {
    const T p = poison();
    for (size_t i = 0; i < kGuard; ++i) {
      if (std::memcmp(&storage_[i], &p, sizeof(T)) != 0) return false;
      if (std::memcmp(&storage_[storage_.size() - 1 - i], &p, sizeof(T)) != 0) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 17;  // odd, so that vectors are misaligned
  static T poison() {
    T p;
    std::memset(static_cast<void*>(&p), 0xff, sizeof(T));  // a NaN as f32, f16 and bf16
    return p;
  }
  int64_t n_;
  std::vector<T> storage_;
};

inline std::vector<float> random_floats(int64_t n, float low, float high, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& v : values) v = uniform(engine);
  return values;
}

// |got − expected| <= absolute + relative · |expected|; NaN matches NaN, infinities match exactly.
testing::AssertionResult near(float got, double expected, double relative, double absolute);
testing::AssertionResult all_near(const std::vector<float>& got, const std::vector<double>& expected, double relative,
                                  double absolute);
testing::AssertionResult same_bits(const std::vector<float>& got, const std::vector<float>& expected);

}  // namespace nxrt
