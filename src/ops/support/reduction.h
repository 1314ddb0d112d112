// Which axes a reduction removes, and how to walk them: output i gathers the elements at offset(i) + every combination
// of the reduced axes' strides.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/op.h"

namespace nxrt::ops {

using AxisMask = uint32_t;  // bit d: axis d is reduced

// The axes as known at prepare; an axes input that isn't constant is read while running.
class ReducedAxes {
 public:
  explicit ReducedAxes(const NodeView& node);
  AxisMask at_run(const Args& args) const;

 private:
  std::optional<std::vector<int64_t>> attribute_;
  bool none_means_none_;  // noop_with_empty_axes
};

// Output shape by attributes axes / keepdims / noop_with_empty_axes or the axes input.
std::optional<SymShape> reduced_shape(const NodeView& node);

struct Reduction {
  int64_t kept_count = 1, reduced_count = 1;

  Reduction(const Shape& shape, AxisMask axes);

  int64_t offset(int64_t i) const;  // first element of output i
  // All reduced elements are one run.
  bool contiguous() const { return reduced_rank_ == 0 || (reduced_rank_ == 1 && reduced_strides_[0] == 1); }

  template <class T, class F>
  void each(const T* x, F&& visit) const {
    if (reduced_rank_ == 0) return visit(*x);
    const size_t inner = static_cast<size_t>(reduced_rank_ - 1);
    const int64_t length = reduced_dims_[inner], step = reduced_strides_[inner];
    const int64_t rows = length == 0 ? 0 : reduced_count / length;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t rest = row, from = 0;
      for (size_t d = inner; d-- > 0;) {
        from += rest % reduced_dims_[d] * reduced_strides_[d];
        rest /= reduced_dims_[d];
      }
      for (int64_t i = 0; i < length; ++i) visit(x[from + i * step]);
    }
  }

 private:
  using Dims = std::array<int64_t, Shape::kMaxRank>;
  int kept_rank_ = 0, reduced_rank_ = 0;
  Dims kept_dims_{}, kept_strides_{}, reduced_dims_{}, reduced_strides_{};
};

}  // namespace nxrt::ops
