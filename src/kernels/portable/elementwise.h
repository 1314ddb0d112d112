// The kernels that treat every element alone. Sine, cosine and power stay with the definition: no model's hot path has
// them.
#pragma once

#include "kernels/kernels.h"
#include "kernels/portable/math.h"
#include "kernels/portable/vectors.h"

namespace nxrt::portable {

template <class F32, F32 (*f)(F32)>
void map(const float* x, float* y, int64_t n) noexcept {
  each_vector<F32>(n, [&](auto at) { at.store(f(at.load(x)), y); });
}

template <class F32, F32 (*f)(F32, F32)>
void zip(const float* a, int a_step, const float* b, int b_step, float* y, int64_t n) noexcept {
  if (n == 0) return;
  if (a_step == 1 && b_step == 1) {
    each_vector<F32>(n, [&](auto at) { at.store(f(at.load(a), at.load(b)), y); });
  } else if (a_step == 1) {
    each_vector<F32>(n, [&, right = F32::fill(*b)](auto at) { at.store(f(at.load(a), right), y); });
  } else if (b_step == 1) {
    each_vector<F32>(n, [&, left = F32::fill(*a)](auto at) { at.store(f(left, at.load(b)), y); });
  } else {
    each_vector<F32>(n, [&, both = f(F32::fill(*a), F32::fill(*b))](auto at) { at.store(both, y); });
  }
}

template <class F32>
struct Functions {
  static F32 magnitude(F32 x) { return abs(x); }
  static F32 negative(F32 x) { return neg(x); }
  static F32 root(F32 x) { return sqrt(x); }
  static F32 inverse_root(F32 x) { return F32::fill(1.0f) / sqrt(x); }
  static F32 reciprocal(F32 x) { return F32::fill(1.0f) / x; }
  static F32 relu(F32 x) { return select(less(x, F32::zero()), F32::zero(), x); }
  static F32 down(F32 x) { return floor(x); }
  static F32 up(F32 x) { return ceil(x); }
  static F32 nearest(F32 x) { return round(x); }

  static F32 add(F32 a, F32 b) { return a + b; }
  static F32 subtract(F32 a, F32 b) { return a - b; }
  static F32 multiply(F32 a, F32 b) { return a * b; }
  static F32 divide(F32 a, F32 b) { return a / b; }
  static F32 lesser(F32 a, F32 b) { return select(is_nan(a), a, min(a, b)); }
  static F32 greater(F32 a, F32 b) { return select(is_nan(a), a, max(a, b)); }
};

template <class F32>
void silu_mul(const float* gate, const float* up, float* y, int64_t n) noexcept {
  each_vector<F32>(n, [&](auto at) { at.store(silu(at.load(gate)) * at.load(up), y); });
}

template <class F32, class From, class To>
void convert(const From* x, To* y, int64_t n) noexcept {
  each_vector<F32>(n, [&](auto at) { at.store(at.load(x), y); });
}

template <class F32>
void install_unary(Kernels& k) {
  using F = Functions<F32>;
  k.unary[static_cast<int>(Unary::abs)] = map<F32, F::magnitude>;
  k.unary[static_cast<int>(Unary::neg)] = map<F32, F::negative>;
  k.unary[static_cast<int>(Unary::exp)] = map<F32, exp<F32>>;
  k.unary[static_cast<int>(Unary::log)] = map<F32, log<F32>>;
  k.unary[static_cast<int>(Unary::sqrt)] = map<F32, F::root>;
  k.unary[static_cast<int>(Unary::rsqrt)] = map<F32, F::inverse_root>;
  k.unary[static_cast<int>(Unary::reciprocal)] = map<F32, F::reciprocal>;
  k.unary[static_cast<int>(Unary::tanh)] = map<F32, tanh<F32>>;
  k.unary[static_cast<int>(Unary::sigmoid)] = map<F32, sigmoid<F32>>;
  k.unary[static_cast<int>(Unary::silu)] = map<F32, silu<F32>>;
  k.unary[static_cast<int>(Unary::relu)] = map<F32, F::relu>;
  k.unary[static_cast<int>(Unary::erf)] = map<F32, erf<F32>>;
  k.unary[static_cast<int>(Unary::gelu_erf)] = map<F32, gelu_erf<F32>>;
  k.unary[static_cast<int>(Unary::gelu_tanh)] = map<F32, gelu_tanh<F32>>;
  k.unary[static_cast<int>(Unary::floor)] = map<F32, F::down>;
  k.unary[static_cast<int>(Unary::ceil)] = map<F32, F::up>;
  k.unary[static_cast<int>(Unary::round)] = map<F32, F::nearest>;
}

template <class F32>
void install_binary(Kernels& k) {
  using F = Functions<F32>;
  k.binary[static_cast<int>(Binary::add)] = zip<F32, F::add>;
  k.binary[static_cast<int>(Binary::sub)] = zip<F32, F::subtract>;
  k.binary[static_cast<int>(Binary::mul)] = zip<F32, F::multiply>;
  k.binary[static_cast<int>(Binary::div)] = zip<F32, F::divide>;
  k.binary[static_cast<int>(Binary::min)] = zip<F32, F::lesser>;
  k.binary[static_cast<int>(Binary::max)] = zip<F32, F::greater>;
}

template <class F32>
void install_elementwise(Kernels& k) {
  install_unary<F32>(k);
  install_binary<F32>(k);
  k.silu_mul = silu_mul<F32>;
  k.half_to_float = convert<F32, Half, float>;
  k.float_to_half = convert<F32, float, Half>;
  k.bfloat16_to_float = convert<F32, BFloat16, float>;
  k.float_to_bfloat16 = convert<F32, float, BFloat16>;
}

}  // namespace nxrt::portable
