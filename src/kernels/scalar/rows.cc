// The definitions of the kernels that look at one whole row: reductions, normalisations, softmax, rotary embedding.
// Sums run in double, so that the definition is closer to the truth than any faster build it is the oracle of.
#include <cmath>

#include "kernels/scalar/parts.h"

namespace nxrt::scalar {
namespace {

float sum(const float* x, int64_t n) noexcept {
  double total = 0.0;
  for (int64_t i = 0; i < n; ++i) total += x[i];
  return static_cast<float>(total);
}

float max(const float* x, int64_t n) noexcept {
  float best = -INFINITY;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return x[i];
    if (x[i] > best) best = x[i];
  }
  return best;
}

float dot(const float* a, const float* b, int64_t n) noexcept {
  double total = 0.0;
  for (int64_t i = 0; i < n; ++i) total += static_cast<double>(a[i]) * b[i];
  return static_cast<float>(total);
}

void axpy(float a, const float* x, float* y, int64_t n) noexcept {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

void rms_norm(const float* x, const float* scale, float* y, int64_t n, float epsilon) noexcept {
  double squares = 0.0;
  for (int64_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * x[i];
  const float inverse = static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(n) + epsilon));
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * inverse * scale[i];
}

void layer_norm(const float* x, const float* scale, const float* bias, float* y, int64_t n, float epsilon) noexcept {
  double total = 0.0, squares = 0.0;
  for (int64_t i = 0; i < n; ++i) total += x[i];
  const double mean = total / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(n) + epsilon);
  for (int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<float>((x[i] - mean) * inverse * scale[i] + (bias ? bias[i] : 0.0f));
  }
}

void softmax(const float* x, float* y, int64_t n) noexcept {
  const float top = max(x, n);
  if (top == -INFINITY) {
    for (int64_t i = 0; i < n; ++i) y[i] = 0.0f;
    return;
  }
  double total = 0.0;
  for (int64_t i = 0; i < n; ++i) total += y[i] = std::exp(x[i] - top);
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(y[i] / total);
}

void rope(const float* x, const float* cos, const float* sin, float* y, int64_t dim, int64_t rotary,
          bool interleaved) noexcept {
  const int64_t half = rotary / 2;
  for (int64_t i = 0; i < half; ++i) {
    const int64_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : i + half;
    const float a = x[first], b = x[second];
    y[first] = a * cos[i] - b * sin[i];
    y[second] = b * cos[i] + a * sin[i];
  }
  for (int64_t i = rotary; i < dim; ++i) y[i] = x[i];
}

}  // namespace

void install_rows(Kernels& k) {
  k.sum = sum;
  k.max = max;
  k.dot = dot;
  k.axpy = axpy;
  k.rms_norm = rms_norm;
  k.layer_norm = layer_norm;
  k.softmax = softmax;
  k.rope = rope;
}

}  // namespace nxrt::scalar
