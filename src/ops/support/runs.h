// Elementwise work with numpy broadcasting, reduced to runs: the output is cut into rows of `length` elements, along
// which each input either advances by one element or stands still. Adjacent dims are merged, so equal shapes are one
// run, and a scalar or a row against a matrix costs nothing per element.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>

#include "base/shape.h"
#include "base/workers.h"
#include "ops/op.h"

namespace nxrt::ops {

inline constexpr int64_t kElementsPerShard = 16'384;  // below this, waking another thread costs more than it saves

struct Runs {
  static constexpr int kMaxInputs = 3;
  int inputs = 0;
  int64_t length = 1;                  // of one run
  int64_t rows = 1;                    // runs
  std::array<int, kMaxInputs> step{};  // 0 or 1, along the run

  // Outer dims, outermost first, and each input's stride in elements.
  int outer = 0;
  std::array<int64_t, Shape::kMaxRank> dims{};
  std::array<std::array<int64_t, Shape::kMaxRank>, kMaxInputs> strides{};

  // First elements of the inputs of run `row`.
  std::array<int64_t, kMaxInputs> offsets(int64_t row) const;
};

Runs plan_runs(const Shape& output, std::initializer_list<const Shape*> inputs);

// body(offsets, y_offset, n): element offsets of each input and of the output, and the number of elements.
template <class F>
void each_run(const Runs& runs, Workers& workers, F&& body) {
  if (runs.rows == 1) {
    workers.shards(runs.length, kElementsPerShard, [&](int64_t begin, int64_t end, int) {
      std::array<int64_t, Runs::kMaxInputs> at{};
      for (size_t i = 0; i < at.size(); ++i) at[i] = begin * runs.step[i];
      body(at, begin, end - begin);
    });
    return;
  }
  if (runs.length == 0) return;
  const int64_t grain = kElementsPerShard / runs.length + 1;
  workers.shards(runs.rows, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) body(runs.offsets(row), row * runs.length, runs.length);
  });
}

// y[i] = f(x[i]) over n elements; y may be x.
using UnaryRow = std::function<void(const void* x, void* y, int64_t n)>;
// y[i] = a[i·a_step] op b[i·b_step]; y may be a or b when its element size is theirs.
using BinaryRow = std::function<void(const void* a, int a_step, const void* b, int b_step, void* y, int64_t n)>;

// Kernels from rows. Element sizes come from the arguments' dtypes.
Kernel unary_kernel(UnaryRow row);
Kernel binary_kernel(BinaryRow row, const NodeView& node);

// The same rows for half types: converted in pieces on the stack, computed in float.
UnaryRow through_float(UnaryRow row, DType half, const Kernels& cpu);
BinaryRow through_float(BinaryRow row, DType half, const Kernels& cpu);

}  // namespace nxrt::ops
