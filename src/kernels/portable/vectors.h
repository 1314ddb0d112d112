// How portable kernels walk a row: whole vectors, then one partial vector that computes the same function of its
// elements, so that an element's result never depends on where in a call it stands.
//
// A portable kernel is a template over `F32`, a facade that each ISA defines in its own unnamed namespace (avx2/f32.h,
// avx512/f32.h). The instances therefore have internal linkage: nothing built with an ISA's flags can be picked by the
// linker for code that runs on weaker machines.
#pragma once

#include <cstdint>

namespace nxrt::portable {

template <class F32>
struct Whole {
  int64_t i;
  template <class T>
  F32 load(const T* x) const {
    return F32::load(x + i);
  }
  template <class T>
  void store(F32 v, T* y) const {
    v.store(y + i);
  }
  F32 keep(F32 v, F32) const { return v; }
};

template <class F32>
struct Part {
  int64_t i, count;  // 0 < count < lanes
  template <class T>
  F32 load(const T* x) const {
    return F32::load(x + i, count);
  }  // lanes past count are 0
  template <class T>
  void store(F32 v, T* y) const {
    v.store(y + i, count);
  }
  F32 keep(F32 v, F32 otherwise) const { return select(F32::first(count), v, otherwise); }
};

template <class F32, class Body>
void each_vector(int64_t n, Body body) {
  int64_t i = 0;
  for (; i + F32::lanes <= n; i += F32::lanes) body(Whole<F32>{i});
  if (i < n) body(Part<F32>{i, n - i});
}

// Σ of step(total, vector): four running sums hide the latency of an addition.
template <class F32, class Step>
float accumulate(int64_t n, Step step) {
  F32 total[4] = {F32::zero(), F32::zero(), F32::zero(), F32::zero()};
  int64_t i = 0;
  for (; i + 4 * F32::lanes <= n; i += 4 * F32::lanes) {
    for (int u = 0; u < 4; ++u) total[u] = step(total[u], Whole<F32>{i + u * F32::lanes});
  }
  for (; i + F32::lanes <= n; i += F32::lanes) total[0] = step(total[0], Whole<F32>{i});
  if (i < n) total[0] = step(total[0], Part<F32>{i, n - i});
  return sum((total[0] + total[1]) + (total[2] + total[3]));
}

}  // namespace nxrt::portable
