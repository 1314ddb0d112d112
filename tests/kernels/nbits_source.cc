#include "kernels/nbits_source.h"

#include <random>

#include "base/half.h"

namespace nxrt {

NBitsModel::NBitsModel(int bits_, int64_t block_, int64_t n_, int64_t k_, Zeros zeros_, bool half_scales, uint32_t seed)
    : bits(bits_), block(block_), n(n_), k(k_), zeros(zeros_) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(0.001f, 0.1f);
  q.resize(static_cast<size_t>(n * blocks() * block * bits / 8));
  for (uint8_t& byte : q) byte = static_cast<uint8_t>(engine());
  scales.resize(static_cast<size_t>(n * blocks()));
  for (float& s : scales) s = half_scales ? to_float(to_half(uniform(engine))) : uniform(engine);
  if (zeros == Zeros::packed) zero_points.resize(static_cast<size_t>(n * ((blocks() * bits + 7) / 8)));
  for (uint8_t& byte : zero_points) byte = static_cast<uint8_t>(engine());
  if (zeros == Zeros::floats || zeros == Zeros::whole_floats) float_zero_points.resize(scales.size());
  for (size_t i = 0; i < float_zero_points.size(); ++i) {
    // An importer's −minimum / scale, with an f16 minimum: times −scale it is that f16 again, up to f32 rounding.
    const float minimum = to_float(to_half(-uniform(engine)));
    float_zero_points[i] = zeros == Zeros::floats ? -minimum / scales[i] : static_cast<float>(engine() % 16);
  }
}

NBitsSource NBitsModel::source() const {
  return {.bits = bits,
          .block = block,
          .n = n,
          .k = k,
          .q = q.data(),
          .scales = scales.data(),
          .half_scales = nullptr,
          .zero_points = zero_points.empty() ? nullptr : zero_points.data(),
          .float_zero_points = float_zero_points.empty() ? nullptr : float_zero_points.data()};
}

int NBitsModel::quantized(int64_t row, int64_t i) const {
  const size_t at = static_cast<size_t>(row * blocks() * block + i);
  if (bits == 8) return q[at];
  return at % 2 == 0 ? q[at / 2] & 15 : q[at / 2] >> 4;
}

double NBitsModel::zero_point(int64_t row, int64_t b) const {
  if (zeros == Zeros::none) return 1 << (bits - 1);
  if (zeros != Zeros::packed) return float_zero_points[static_cast<size_t>(row * blocks() + b)];
  if (bits == 8) return zero_points[static_cast<size_t>(row * blocks() + b)];
  const uint8_t pair = zero_points[static_cast<size_t>(row * ((blocks() + 1) / 2) + b / 2)];
  return b % 2 == 0 ? pair & 15 : pair >> 4;
}

double NBitsModel::value(int64_t row, int64_t i) const {
  return scales[static_cast<size_t>(row * blocks() + i / block)] * (quantized(row, i) - zero_point(row, i / block));
}

}  // namespace nxrt
