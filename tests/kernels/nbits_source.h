// A random MatMulNBits weight in the model's own storage, and its values as the operator's specification defines them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/pack.h"

namespace nxrt {

enum class Zeros { none, packed, whole_floats, floats };

struct NBitsModel {
  int bits;
  int64_t block, n, k;
  Zeros zeros;
  std::vector<uint8_t> q, zero_points;
  std::vector<float> scales, float_zero_points;

  NBitsModel(int bits, int64_t block, int64_t n, int64_t k, Zeros zeros, bool half_scales, uint32_t seed);
  NBitsSource source() const;
  int64_t blocks() const { return (k + block - 1) / block; }
  int quantized(int64_t row, int64_t i) const;  // i along k
  double zero_point(int64_t row, int64_t block_index) const;
  double value(int64_t row, int64_t i) const;  // the weight
};

}  // namespace nxrt
