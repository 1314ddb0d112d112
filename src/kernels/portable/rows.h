// The kernels that look at one whole row: reductions, normalisations, softmax, rotary embedding, quantization.
#pragma once

#include "kernels/kernels.h"
#include "kernels/portable/math.h"
#include "kernels/portable/vectors.h"

namespace nxrt::portable {

template <class F32>
float total(const float* x, int64_t n) noexcept {
  return accumulate<F32>(n, [&](F32 so_far, auto at) { return so_far + at.load(x); });
}

template <class F32>
float dot(const float* a, const float* b, int64_t n) noexcept {
  return accumulate<F32>(n, [&](F32 so_far, auto at) { return fma(at.load(a), at.load(b), so_far); });
}

template <class F32>
float maximum(const float* x, int64_t n) noexcept {
  const F32 lowest = F32::fill(-__builtin_inff());
  F32 best = lowest, poison = F32::zero();
  each_vector<F32>(n, [&](auto at) {
    const F32 v = at.keep(at.load(x), lowest);
    best = max(v, best);
    poison = select(is_nan(v), v, poison);
  });
  return any(is_nan(poison)) ? __builtin_nanf("") : largest(best);
}

template <class F32>
void axpy(float a, const float* x, float* y, int64_t n) noexcept {
  each_vector<F32>(n, [&, factor = F32::fill(a)](auto at) { at.store(fma(factor, at.load(x), at.load(y)), y); });
}

template <class F32>
void rms_norm(const float* x, const float* scale, float* y, int64_t n, float epsilon) noexcept {
  const float squares = accumulate<F32>(n, [&](F32 so_far, auto at) { return fma(at.load(x), at.load(x), so_far); });
  const F32 inverse = F32::fill(1.0f / __builtin_sqrtf(squares / static_cast<float>(n) + epsilon));
  each_vector<F32>(n, [&](auto at) { at.store(at.load(x) * inverse * at.load(scale), y); });
}

template <class F32>
void layer_norm(const float* x, const float* scale, const float* bias, float* y, int64_t n, float epsilon) noexcept {
  const F32 mean = F32::fill(total<F32>(x, n) / static_cast<float>(n));
  const float squares = accumulate<F32>(n, [&](F32 so_far, auto at) {
    const F32 distance = at.keep(at.load(x) - mean, F32::zero());
    return fma(distance, distance, so_far);
  });
  const F32 inverse = F32::fill(1.0f / __builtin_sqrtf(squares / static_cast<float>(n) + epsilon));
  each_vector<F32>(n, [&](auto at) {
    const F32 normal = (at.load(x) - mean) * inverse;
    at.store(fma(normal, at.load(scale), bias ? at.load(bias) : F32::zero()), y);
  });
}

template <class F32>
void softmax(const float* x, float* y, int64_t n) noexcept {
  const float top = maximum<F32>(x, n);
  if (top == -__builtin_inff()) {
    each_vector<F32>(n, [&](auto at) { at.store(F32::zero(), y); });
    return;
  }
  const float sum = accumulate<F32>(n, [&](F32 so_far, auto at) {
    const F32 weight = at.keep(exp(at.load(x) - F32::fill(top)), F32::zero());
    at.store(weight, y);
    return so_far + weight;
  });
  const F32 inverse = F32::fill(1.0f / sum);
  each_vector<F32>(n, [&](auto at) { at.store(at.load(y) * inverse, y); });
}

template <class F32>
void rope(const float* x, const float* cos, const float* sin, float* y, int64_t dim, int64_t rotary,
          bool interleaved) noexcept {
  const int64_t half = rotary / 2;
  if (interleaved) {
    for (int64_t i = 0; i < half; ++i) {
      const float a = x[2 * i], b = x[2 * i + 1];
      y[2 * i] = a * cos[i] - b * sin[i];
      y[2 * i + 1] = b * cos[i] + a * sin[i];
    }
  } else {
    each_vector<F32>(half, [&](auto at) {
      const F32 a = at.load(x), b = at.load(x + half), c = at.load(cos), s = at.load(sin);
      at.store(a * c - b * s, y);
      at.store(b * c + a * s, y + half);
    });
  }
  each_vector<F32>(dim - rotary, [&](auto at) { at.store(at.load(x + rotary), y + rotary); });
}

template <class F32>
void quantize_block(const float* x, int64_t count, int64_t block, int8_t* q, float* scale, float* sum_out,
                    float* rest) noexcept {
  F32 largest_magnitude = F32::zero(), poison = F32::zero();
  each_vector<F32>(count, [&](auto at) {
    const F32 v = at.load(x);
    largest_magnitude = max(abs(v), largest_magnitude);
    poison = poison + (v - v);  // NaN from the first infinity or NaN on. NOLINT(misc-redundant-expression)
  });
  const bool finite = !any(is_nan(poison));
  const float top = largest(largest_magnitude), inverse = 127.0f / top;
  const bool usable = finite && inverse < __builtin_inff();
  *scale = !finite ? __builtin_nanf("") : usable ? top / 127.0f : 0.0f;
  F32 sum_of_q = F32::zero();  // whole numbers below 2^24: exact
  const F32 step = neg(F32::fill(*scale));
  each_vector<F32>(usable ? count : 0, [&](auto at) {
    const F32 v = at.load(x), t = v * F32::fill(inverse);
    // Half away from zero. The largest float below ½ keeps ½ − ulp from being carried to 1.
    const F32 whole = trunc(t + copysign(F32::fill(0.49999997f), t));
    sum_of_q = sum_of_q + whole;
    whole.store_int8(q + at.i);
    if (rest) at.store(fma(step, whole + F32::zero(), v), rest);  // −0 is 0 as an int8
  });
  const int64_t filled = usable ? count : 0;
  if (rest && !usable) each_vector<F32>(count, [&](auto at) { at.store(fma(step, F32::zero(), at.load(x)), rest); });
  for (int64_t i = (filled + F32::lanes - 1) / F32::lanes * F32::lanes; i < block; i += F32::lanes) {
    F32::zero().store_int8(q + i);
  }
  *sum_out = sum(sum_of_q);
}

template <class F32>
void quantize_row(const float* x, int64_t k, int64_t block, int8_t* q, float* scales, float* sums,
                  float* rest) noexcept {
  for (int64_t begin = 0, b = 0; begin < k; begin += block, ++b) {
    const int64_t count = begin + block <= k ? block : k - begin;
    quantize_block<F32>(x + begin, count, block, q + begin, scales + b, sums + b, rest ? rest + begin : nullptr);
  }
}

template <class F32>
void install_rows(Kernels& k) {
  k.sum = total<F32>;
  k.max = maximum<F32>;
  k.dot = dot<F32>;
  k.axpy = axpy<F32>;
  k.rms_norm = rms_norm<F32>;
  k.layer_norm = layer_norm<F32>;
  k.softmax = softmax<F32>;
  k.rope = rope<F32>;
  k.quantize_row = quantize_row<F32>;
}

}  // namespace nxrt::portable
