#include "ops/support/reduction.h"

#include <algorithm>

#include "ops/support/infer.h"
#include "ops/support/strided_copy.h"

namespace nxrt::ops {

ReducedAxes::ReducedAxes(const NodeView& node) : none_means_none_(node.i64("noop_with_empty_axes", 0) != 0) {
  if (node.has("axes")) attribute_ = node.ints("axes");
}

AxisMask ReducedAxes::at_run(const Args& args) const {
  const int rank = args.shape(0).rank();
  AxisMask mask = 0;
  const int64_t count = attribute_ ? static_cast<int64_t>(attribute_->size()) : args.has(1) ? args.shape(1).count() : 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t axis = attribute_ ? (*attribute_)[static_cast<size_t>(i)] : index_at(args, 1, i);
    if (axis < 0) axis += rank;
    if (axis >= 0 && axis < rank) mask |= AxisMask{1} << axis;
  }
  const bool all = count == 0 && !none_means_none_;
  return all ? (AxisMask{1} << rank) - 1 : mask;
}

std::optional<SymShape> reduced_shape(const NodeView& node) {
  if (!node.has_shape(0)) return std::nullopt;
  const SymShape& x = node.shape(0);
  const auto axes = axes_of(node, 1, x.rank());
  const bool keep = node.i64("keepdims", 1) != 0;
  if (!axes) return keep ? std::optional(unknown_dims(x.rank())) : std::nullopt;
  const bool all = axes->empty() && node.i64("noop_with_empty_axes", 0) == 0;
  std::vector<Dim> dims;
  for (int d = 0; d < x.rank(); ++d) {
    const bool removed = all || std::find(axes->begin(), axes->end(), d) != axes->end();
    if (!removed) dims.push_back(x[d]);
    if (removed && keep) dims.emplace_back(1);
  }
  return SymShape(dims);
}

Reduction::Reduction(const Shape& shape, AxisMask axes) {
  const auto strides = strides_of(shape);
  bool previous_reduced = false;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 1) continue;
    const bool is_reduced = (axes >> d & 1u) != 0;
    int& rank = is_reduced ? reduced_rank_ : kept_rank_;
    Dims& dims = is_reduced ? reduced_dims_ : kept_dims_;
    Dims& own = is_reduced ? reduced_strides_ : kept_strides_;
    if (rank > 0 && previous_reduced == is_reduced)
      --rank, dims[static_cast<size_t>(rank)] *= shape[d];
    else
      dims[static_cast<size_t>(rank)] = shape[d];
    own[static_cast<size_t>(rank++)] = strides[static_cast<size_t>(d)];
    (is_reduced ? reduced_count : kept_count) *= shape[d];
    previous_reduced = is_reduced;
  }
}

int64_t Reduction::offset(int64_t i) const {
  int64_t at = 0;
  for (size_t d = static_cast<size_t>(kept_rank_); d-- > 0;) {
    at += i % kept_dims_[d] * kept_strides_[d];
    i /= kept_dims_[d];
  }
  return at;
}

}  // namespace nxrt::ops
