// Moving elements between layouts: Transpose, Slice, Expand, Tile, Concat, Split and Pad are all one copy over dims
// with a stride on each side.
#pragma once

#include <array>
#include <cstdint>

#include "base/shape.h"
#include "base/workers.h"

namespace nxrt::ops {

struct StridedCopy {
  static constexpr int kMaxDims = 2 * Shape::kMaxRank;  // Tile uses two per axis

  int rank = 0;
  std::array<int64_t, kMaxDims> dims{};
  std::array<int64_t, kMaxDims> from{}, to{};  // strides in elements; `from` may be 0 or negative

  void add(int64_t dim, int64_t from_stride, int64_t to_stride);  // outermost first
  // Copies elements of `size` bytes.
  void run(const void* source, void* target, int64_t size, Workers& workers) const;
};

// Row-major strides of a shape, in elements.
std::array<int64_t, Shape::kMaxRank> strides_of(const Shape& shape);

}  // namespace nxrt::ops
