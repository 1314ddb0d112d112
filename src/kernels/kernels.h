// The kernel table: pure arithmetic on pointers, one function pointer per kernel.
//
//   const Kernels& cpu = kernels_for(best_isa());
//   cpu.rms_norm(x, scale, y, cols, 1e-5f);
//
// `scalar::install` fills every entry with the definition; stronger ISAs overwrite what they do better, so a caller
// never mentions an ISA. A new ISA is a folder with an install function and a line in kernels.cc.
//
// Threads: kernels are noexcept, re-entrant and single-threaded; callers shard over rows or columns.
// Memory:  no allocation. Pointers need only their element's alignment; outputs don't overlap inputs unless stated.
// Rows:    a row's result depends on that row alone, in a fixed order, whatever the number of rows in the call.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "base/half.h"

namespace nxrt {

// Weights [n, k] of a matrix product in panels of kPanel output columns; see pack.h.
inline constexpr int64_t kPanel = 16;

struct PackedFloats;  // pack.h
struct PackedNBits;   // pack.h

// One activation row quantized to int8 per block of `block` elements: x ≈ scale · q, scale = max|x| / 127, q rounded
// half away from zero. `sums` is Σq of each block, exact in a float. [blocks] scales and sums, [blocks · block] q,
// zero-padded. With two terms, rows 2i and 2i + 1 together are activation row i: the second holds what the first
// rounded away.
struct QuantizedRows {
  const int8_t* q;
  const float* scales;
  const float* sums;
  int64_t rows, k, block;
  int terms = 1;
  int64_t blocks() const { return (k + block - 1) / block; }
};

// Running softmax of one query head: softmax(scores)·V = out / sum.
struct AttentionState {
  float max = -__builtin_inff();
  float sum = 0.0f;
};

// The cached keys and values one call of `attend` reads: token t's at k[t] and v[t], [head_dim] each. They lie
// anywhere, which the hardware's prefetch can't follow: those of the next call are asked for while this one computes.
struct AttentionTokens {
  const void* const* k;
  const void* const* v;
  int count;
  const void* const* next_k = nullptr;
  const void* const* next_v = nullptr;
  int next = 0;
};

enum class Unary {
  abs,
  neg,
  exp,
  log,
  sqrt,
  rsqrt,
  reciprocal,
  tanh,
  sigmoid,
  silu,
  relu,
  erf,
  gelu_erf,
  gelu_tanh,
  sin,
  cos,
  floor,
  ceil,
  round
};
inline constexpr int kUnaryCount = 19;
enum class Binary { add, sub, mul, div, min, max, pow };
inline constexpr int kBinaryCount = 7;

struct Kernels {
  Isa isa = Isa::scalar;

  // y[i] = f(x[i]); y may be x.
  void (*unary[kUnaryCount])(const float* x, float* y, int64_t n);
  // y[i] = a[i·a_step] op b[i·b_step], steps 0 or 1; y may be a or b.
  void (*binary[kBinaryCount])(const float* a, int a_step, const float* b, int b_step, float* y, int64_t n);

  float (*sum)(const float* x, int64_t n);
  float (*max)(const float* x, int64_t n);  // -inf when n == 0; NaN when any is
  float (*dot)(const float* a, const float* b, int64_t n);
  void (*axpy)(float a, const float* x, float* y, int64_t n);  // y += a·x

  // y = x / sqrt(mean(x²) + epsilon) · scale; y may be x.
  void (*rms_norm)(const float* x, const float* scale, float* y, int64_t n, float epsilon);
  // y = (x − mean) / sqrt(var + epsilon) · scale + bias; bias may be null; y may be x.
  void (*layer_norm)(const float* x, const float* scale, const float* bias, float* y, int64_t n, float epsilon);
  void (*softmax)(const float* x, float* y, int64_t n);  // y may be x; all −inf gives all 0
  // y[i] = silu(gate[i]) · up[i]; y may be gate or up.
  void (*silu_mul)(const float* gate, const float* up, float* y, int64_t n);

  // Rotates the first `rotary` (even) of `dim` elements of one head; the rest is copied; y may be x.
  // cos, sin: [rotary / 2]. interleaved: pairs (0,1)(2,3)…; else (i, i + rotary/2).
  void (*rope)(const float* x, const float* cos, const float* sin, float* y, int64_t dim, int64_t rotary,
               bool interleaved);

  void (*half_to_float)(const Half* x, float* y, int64_t n);
  void (*float_to_half)(const float* x, Half* y, int64_t n);
  void (*bfloat16_to_float)(const BFloat16* x, float* y, int64_t n);
  void (*float_to_bfloat16)(const float* x, BFloat16* y, int64_t n);

  // c[m, ldc] = a[m, lda] · W, for the panels [panel_begin, panel_end) of W. Columns past w.n are not written.
  // f16 and bf16 weights are widened as they are read; all arithmetic is f32.
  void (*gemm_f32)(const float* a, int64_t lda, int64_t m, const PackedFloats& w, int64_t panel_begin,
                   int64_t panel_end, float* c, int64_t ldc);
  // c[m, ldc] = a[m, lda] · b, with b unpacked: b[k, n] (ldb between rows) or, transposed, b[n, k].
  void (*gemm_f32_plain)(const float* a, int64_t lda, const float* b, int64_t ldb, bool b_transposed, float* c,
                         int64_t ldc, int64_t m, int64_t n, int64_t k);

  // One row → QuantizedRows storage at q [blocks·block], scales [blocks], sums [blocks]. rest [k], which may be x or
  // null, gets what was rounded away: x − scale · q, rounded once.
  void (*quantize_row)(const float* x, int64_t k, int64_t block, int8_t* q, float* scales, float* sums, float* rest);
  // c[rows / terms, ldc] = x · Wᵀ with int8 activations, exact integer dot products per block, then float in block
  // order; the terms of a row are added last.
  void (*gemm_nbits_q8)(const QuantizedRows& x, const PackedNBits& w, int64_t panel_begin, int64_t panel_end, float* c,
                        int64_t ldc);
  // The same with float activations (accuracy levels 0 and 1).
  void (*gemm_nbits_f32)(const float* a, int64_t lda, int64_t m, const PackedNBits& w, int64_t panel_begin,
                         int64_t panel_end, float* c, int64_t ldc);

  // Adds consecutive tokens to the running attention of `heads` query heads that share these keys/values:
  // score = (q·k)·scale, softcap·tanh(score/softcap) when softcap > 0; out is rescaled when the maximum grows.
  // q: [heads, q_stride], out: [heads, out_stride] (unnormalised), state: [heads]. The order over tokens is fixed.
  void (*attend_f32)(const float* q, int64_t q_stride, int heads, const AttentionTokens& tokens, int64_t head_dim,
                     float scale, float softcap, AttentionState* state, float* out, int64_t out_stride);
  void (*attend_f16)(const float* q, int64_t q_stride, int heads, const AttentionTokens& tokens, int64_t head_dim,
                     float scale, float softcap, AttentionState* state, float* out, int64_t out_stride);
};

// The table for `isa`, which must be in available(); built once, lives for the process.
const Kernels& kernels_for(Isa isa);

namespace scalar {
void install(Kernels& k);
}
namespace avx2 {
void install(Kernels& k);
}
namespace avx512 {
void install(Kernels& k);
}
namespace vnni {
void install(Kernels& k);
}

}  // namespace nxrt
