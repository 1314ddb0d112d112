// Matrix products sharded over workers. A row's result depends on that row alone, however the work is cut.
#pragma once

#include <cstdint>

#include "base/workers.h"
#include "kernels/kernels.h"
#include "kernels/pack.h"
#include "ops/op.h"

namespace nxrt::ops {

// "packed f32", "packed f16", "packed bf16"; "plain" without packed weights: for the ledger.
std::string_view route_of(const PackedFloats* packed);

// c[m, n] = a[m, k] · W
void multiply_packed(const Kernels& cpu, const float* a, int64_t m, const PackedFloats& w, float* c, Workers& workers);

// c[m, n] = a[m, k] · b, with b [k, n] or, transposed, [n, k]
struct PlainProduct {
  int64_t m = 0, n = 0, k = 0;
  bool b_transposed = false;
  int64_t ldb() const { return b_transposed ? k : n; }
};
void multiply_plain(const Kernels& cpu, const float* a, const float* b, float* c, const PlainProduct& p,
                    Workers& workers);

// Converts `count` elements of f16, bf16 or f32 to float.
void widen(const Kernels& cpu, DType from, const void* x, float* y, int64_t count);
// Converts `count` floats to f16 or bf16.
void narrow(const Kernels& cpu, const float* x, DType to, void* y, int64_t count);

// The definition, for types without kernels: any strides (in elements). Integers wrap.
template <class T>
struct Operand {
  const T* data;
  int64_t row, col;  // strides
};
template <class T>
void multiply_defined(Operand<T> a, Operand<T> b, T* c, const PlainProduct& p, Workers& workers) {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  workers.shards(p.m * p.n, 64, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const T* x = a.data + i / p.n * a.row;
      const T* y = b.data + i % p.n * b.col;
      Sum sum = 0;
      for (int64_t k = 0; k < p.k; ++k) sum += static_cast<Sum>(x[k * a.col]) * static_cast<Sum>(y[k * b.row]);
      c[i] = static_cast<T>(sum);
    }
  });
}

// Input i [k, n] (or [n, k], transposed) in panels, in its own type; null when it is no constant matrix of f32, f16 or
// bf16.
std::shared_ptr<const PackedFloats> pack_constant(const NodeView& node, int i, bool transposed, Prepare& with);

}  // namespace nxrt::ops
