// The definitions of the kernels that treat every element alone.
#include <cmath>

#include "kernels/scalar/parts.h"

namespace nxrt::scalar {
namespace {

template <float (*f)(float)>
void map(const float* x, float* y, int64_t n) noexcept {
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

template <float (*f)(float, float)>
void zip(const float* a, int a_step, const float* b, int b_step, float* y, int64_t n) noexcept {
  for (int64_t i = 0; i < n; ++i) y[i] = f(a[i * a_step], b[i * b_step]);
}

float abs(float x) { return std::fabs(x); }
float neg(float x) { return -x; }
float exp(float x) { return std::exp(x); }
float log(float x) { return std::log(x); }
float sqrt(float x) { return std::sqrt(x); }
float rsqrt(float x) { return 1.0f / std::sqrt(x); }
float reciprocal(float x) { return 1.0f / x; }
float tanh(float x) { return std::tanh(x); }
float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float silu(float x) { return x / (1.0f + std::exp(-x)); }
float relu(float x) { return x < 0.0f ? 0.0f : x; }  // NaN stays NaN
float erf(float x) { return std::erf(x); }
float gelu_erf(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678f)); }
float gelu_tanh(float x) { return 0.5f * x * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x))); }
float sin(float x) { return std::sin(x); }
float cos(float x) { return std::cos(x); }
float floor(float x) { return std::floor(x); }
float ceil(float x) { return std::ceil(x); }
float round(float x) { return std::nearbyint(x); }  // half to even, as ONNX Round

float add(float a, float b) { return a + b; }
float sub(float a, float b) { return a - b; }
float mul(float a, float b) { return a * b; }
float div(float a, float b) { return a / b; }
float min(float a, float b) { return std::isnan(a) || a < b ? a : b; }  // NaN when either is
float max(float a, float b) { return std::isnan(a) || a > b ? a : b; }
float pow(float a, float b) { return b == 2.0f ? a * a : std::pow(a, b); }

void silu_mul(const float* gate, const float* up, float* y, int64_t n) noexcept {
  for (int64_t i = 0; i < n; ++i) y[i] = silu(gate[i]) * up[i];
}

void half_to_float(const Half* x, float* y, int64_t n) noexcept {
  for (int64_t i = 0; i < n; ++i) y[i] = to_float(x[i]);
}
void float_to_half(const float* x, Half* y, int64_t n) noexcept {
  for (int64_t i = 0; i < n; ++i) y[i] = to_half(x[i]);
}
void bfloat16_to_float(const BFloat16* x, float* y, int64_t n) noexcept {
  for (int64_t i = 0; i < n; ++i) y[i] = to_float(x[i]);
}
void float_to_bfloat16(const float* x, BFloat16* y, int64_t n) noexcept {
  for (int64_t i = 0; i < n; ++i) y[i] = to_bfloat16(x[i]);
}

}  // namespace

void install_elementwise(Kernels& k) {
  const auto unary = [&k](Unary f, auto* kernel) { k.unary[static_cast<int>(f)] = kernel; };
  unary(Unary::abs, map<abs>);
  unary(Unary::neg, map<neg>);
  unary(Unary::exp, map<exp>);
  unary(Unary::log, map<log>);
  unary(Unary::sqrt, map<sqrt>);
  unary(Unary::rsqrt, map<rsqrt>);
  unary(Unary::reciprocal, map<reciprocal>);
  unary(Unary::tanh, map<tanh>);
  unary(Unary::sigmoid, map<sigmoid>);
  unary(Unary::silu, map<silu>);
  unary(Unary::relu, map<relu>);
  unary(Unary::erf, map<erf>);
  unary(Unary::gelu_erf, map<gelu_erf>);
  unary(Unary::gelu_tanh, map<gelu_tanh>);
  unary(Unary::sin, map<sin>);
  unary(Unary::cos, map<cos>);
  unary(Unary::floor, map<floor>);
  unary(Unary::ceil, map<ceil>);
  unary(Unary::round, map<round>);

  const auto binary = [&k](Binary f, auto* kernel) { k.binary[static_cast<int>(f)] = kernel; };
  binary(Binary::add, zip<add>);
  binary(Binary::sub, zip<sub>);
  binary(Binary::mul, zip<mul>);
  binary(Binary::div, zip<div>);
  binary(Binary::min, zip<min>);
  binary(Binary::max, zip<max>);
  binary(Binary::pow, zip<pow>);

  k.silu_mul = silu_mul;
  k.half_to_float = half_to_float;
  k.float_to_half = float_to_half;
  k.bfloat16_to_float = bfloat16_to_float;
  k.float_to_bfloat16 = float_to_bfloat16;
}

}  // namespace nxrt::scalar
