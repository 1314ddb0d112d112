// Elementary functions over F32. Bounds are the largest errors measured against double over all exponents (the tests
// check them): exp 1 ulp, log 1.5 ulp, tanh 2.5 ulp, erf 3 ulp. Subnormal results of exp are correctly rounded to
// within 1 ulp. Coefficients are near-minimax fits to the quantity each comment names.
#pragma once

namespace nxrt::portable {

template <class F32, int n>
F32 polynomial(F32 x, const float (&c)[n]) {  // c[0] + c[1]·x + …, by Horner
  F32 y = F32::fill(c[n - 1]);
  for (int i = n - 2; i >= 0; --i) y = fma(y, x, F32::fill(c[i]));
  return y;
}

// e^x = 2^n · e^r, n = round(x / ln 2), |r| <= ln 2 / 2; (e^r − 1 − r) / r².
template <class F32>
F32 exp(F32 x) {
  constexpr float c[] = {0.5f, 0.1666651815f, 0.04166620597f, 0.008368889801f, 0.001395048923f};
  // Past these the result is 0 or infinite. The operand order lets a NaN through.
  const F32 clamped = max(F32::fill(-105.0f), min(F32::fill(90.0f), x));
  const F32 n = round(clamped * F32::fill(1.44269504f));
  const F32 r = fma(n, F32::fill(1.90465430e-9f), fma(n, F32::fill(-0.693147182f), clamped));  // ln 2 in two parts
  const F32 p = fma(polynomial(r, c), r * r, r) + F32::fill(1.0f);
  return scale2(p, n);
}

// log x = e · ln 2 + log(1 + f), 1 + f in [√½, √2); (log(1 + f) − f + f²/2) / f³.
template <class F32>
F32 log(F32 x) {
  constexpr float c[] = {0.3333331048f,  -0.2499998659f, 0.2000222653f,  -0.1666925102f, 0.1421865821f,
                         -0.1238434836f, 0.1187297627f,  -0.1178980768f, 0.06915368140f};
  F32 m, e;
  split(x, &m, &e);
  const auto high = less(F32::fill(1.41421356f), m);
  m = select(high, m * F32::fill(0.5f), m);
  e = select(high, e + F32::fill(1.0f), e);
  const F32 f = m - F32::fill(1.0f), f2 = f * f;
  const F32 low = fma(e, F32::fill(-2.12194440e-4f), polynomial(f, c) * (f2 * f));  // ln 2 in two parts
  const F32 y = fma(e, F32::fill(0.693359375f), fma(F32::fill(-0.5f), f2, low) + f);
  const F32 infinity = F32::fill(__builtin_inff());
  const F32 positive = select(less(x, infinity), y, x);  // infinity and NaN map to themselves
  const F32 zero = F32::zero();
  return select(less(x, zero), F32::fill(__builtin_nanf("")), select(equal(x, zero), zero - infinity, positive));
}

// Small: (tanh x / x − 1) / x² in x². Large: 1 − 2 / (e^2x + 1).
template <class F32>
F32 tanh(F32 x) {
  constexpr float c[] = {-0.3333328366f, 0.1333149076f, -0.05374349654f, 0.02065057866f, -0.005717036780f};
  const F32 magnitude = abs(x), one = F32::fill(1.0f), s = x * x;
  const F32 small = fma(polynomial(s, c), s * x, x);
  const F32 large = one - F32::fill(2.0f) / (exp(magnitude + magnitude) + one);
  return select(less(magnitude, F32::fill(0.625f)), small, copysign(large, x));
}

// Small: erf x / x − 1 in x². Large: log erfc in |x|, up to 4, past which erf is 1.
template <class F32>
F32 erf(F32 x) {
  constexpr float c[] = {0.1283791661f,   -0.3761262596f,   0.1128360033f,  -0.02685444430f,
                         0.005189535208f, -8.020841051e-4f, 7.889119297e-5f};
  constexpr float d[] = {-3.537089215e-4f, -1.127040029f,    -0.6382256150f, -0.1030374393f,
                         0.02180535160f,   -0.002939615864f, 1.855748997e-4f};
  const F32 magnitude = abs(x), one = F32::fill(1.0f);
  const F32 small = fma(polynomial(x * x, c), x, x);
  const F32 large = one - exp(polynomial(min(F32::fill(4.0f), magnitude), d));
  return select(less(magnitude, one), small, copysign(large, x));
}

template <class F32>
F32 sigmoid(F32 x) {
  return F32::fill(1.0f) / (F32::fill(1.0f) + exp(neg(x)));
}

template <class F32>
F32 silu(F32 x) {
  return x / (F32::fill(1.0f) + exp(neg(x)));
}

template <class F32>
F32 gelu_erf(F32 x) {
  return F32::fill(0.5f) * x * (F32::fill(1.0f) + erf(x * F32::fill(0.70710678f)));
}

template <class F32>
F32 gelu_tanh(F32 x) {
  const F32 inner = F32::fill(0.79788456f) * fma(F32::fill(0.044715f) * x * x, x, x);
  return F32::fill(0.5f) * x * (F32::fill(1.0f) + tanh(inner));
}

}  // namespace nxrt::portable
