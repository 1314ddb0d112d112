// Rows of f32, f16 or bf16 seen as f32: arithmetic is in f32 whatever a tensor's element type is.
//
//   const float* x = as_floats(cpu, args.dtype(0), args.in(0), r * cols, cols, scratch);
//
// Threads: pure functions. Memory: nothing is allocated except by to_floats, which is for prepare.
#pragma once

#include <vector>

#include "base/tensor.h"
#include "kernels/kernels.h"
#include "ops/op.h"

namespace nxrt::ops {

bool is_row_dtype(DType dtype);  // f32, f16, bf16
inline constexpr std::initializer_list<DType> kRowDTypes = {DType::f32, DType::f16, DType::bf16};

// n elements from element `offset` on: the data itself when it is f32, else converted into scratch [n].
const float* as_floats(const Kernels& cpu, DType dtype, const void* data, int64_t offset, int64_t n, float* scratch);

// Where to compute n results meant for element `offset`: the data itself when it is f32, else scratch.
// store_floats then converts them into place, or does nothing when they are there already.
float* float_target(DType dtype, void* data, int64_t offset, float* scratch);
void store_floats(const Kernels& cpu, DType dtype, const float* values, void* data, int64_t offset, int64_t n);

std::vector<float> to_floats(const Tensor& tensor);

constexpr int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
// Bytes of n floats, rounded to a cache line so that what follows in a workspace stays aligned.
constexpr int64_t float_bytes(int64_t n) { return round_up(n * 4, 64); }

}  // namespace nxrt::ops
