// Slice: starts, ends and axes are attributes at ai.onnx 1 and inputs, with steps, from 10 on. Bounds clamp as in
// numpy.
#include <fmt/format.h>

#include <algorithm>

#include "ops/support/infer.h"
#include "ops/support/strided_copy.h"

namespace nxrt::ops {
namespace {

// One axis of a slice over a concrete dim.
struct Range {
  int64_t start = 0, step = 1, length = 0;
};

Range clamp(int64_t dim, int64_t start, int64_t end, int64_t step) {
  const auto wrapped = [&](int64_t x) { return x < 0 ? x + dim : x; };
  Range r;
  r.step = step;
  if (step > 0) {
    r.start = std::clamp<int64_t>(wrapped(start), 0, dim);
    end = std::clamp<int64_t>(wrapped(end), 0, dim);
    const int64_t span = std::max<int64_t>(0, end - r.start);
    r.length = span / step + (span % step != 0);
  } else {
    r.start = std::clamp<int64_t>(wrapped(start), -1, dim - 1);
    end = std::clamp<int64_t>(wrapped(end), -1, dim - 1);
    const int64_t span = std::max<int64_t>(0, r.start - end);
    const uint64_t stride = uint64_t{0} - static_cast<uint64_t>(step);  // |INT64_MIN| fits
    r.length = static_cast<int64_t>((static_cast<uint64_t>(span) + stride - 1) / stride);
  }
  return r;
}

// A bound made relative to the front and clamped to [0, dim], when its place is certain.
Dim placed(Dim bound, const Dim& dim) {
  const auto constant = bound.constant();
  if (constant && *constant < 0) bound = *constant == INT64_MIN ? Dim(0) : bound + dim;
  if (surely_nonnegative(bound - dim) || (constant && *constant >= INT32_MAX)) return dim;
  const bool inside = surely_nonnegative(bound) && surely_nonnegative(dim - bound);
  return inside ? bound : Dim::unknown();
}

Dim sliced(const Dim& dim, const Dim& start, const Dim& end, const Dim& step) {
  const auto d = dim.constant(), s = start.constant(), e = end.constant(), by = step.constant();
  if (d && s && e && by) return clamp(*d, *s, *e, *by).length;
  if (by != 1) return Dim::unknown();
  const Dim length = placed(end, dim) - placed(start, dim);
  return surely_nonnegative(length) ? length : Dim::unknown();
}

// Attributes (opset 1) or inputs, as known so far.
struct Bounds {
  std::optional<std::vector<Dim>> starts, ends, steps;
  std::optional<std::vector<int>> axes;
};

std::optional<std::vector<Dim>> as_dims(const std::vector<int64_t>& values) {
  return std::vector<Dim>(values.begin(), values.end());
}

std::vector<int> first_axes(const NodeView& node, size_t count, int rank) {
  if (count > static_cast<size_t>(rank)) node.fail(fmt::format("{} starts for rank {}", count, rank));
  std::vector<int> axes;
  for (size_t d = 0; d < count; ++d) axes.push_back(static_cast<int>(d));
  return axes;
}

Bounds bounds_of(const NodeView& node, int rank) {
  const bool attributes = node.has("starts");
  Bounds b;
  b.starts = attributes ? as_dims(node.ints("starts")) : node.elements(1);
  b.ends = attributes ? as_dims(node.ints("ends")) : node.elements(2);
  b.axes = axes_of(node, 3, rank);
  if (b.starts && !node.has("axes") && !node.has_input(3)) b.axes = first_axes(node, b.starts->size(), rank);
  if (node.has_input(4)) {
    b.steps = node.elements(4);
  } else if (b.starts) {
    b.steps.emplace(b.starts->size(), Dim(1));
  }
  if (b.starts && b.ends && b.axes && b.steps) {
    const size_t n = b.starts->size();
    if (b.ends->size() != n || b.axes->size() != n || b.steps->size() != n) {
      node.fail(fmt::format("{} starts, {} ends, {} axes and {} steps: expected equally many", n, b.ends->size(),
                            b.axes->size(), b.steps->size()));
    }
    for (const Dim& step : *b.steps) {
      if (step.constant() == 0) node.fail("a step is 0");
    }
  }
  return b;
}

std::optional<std::vector<Dim>> slice_elements(const NodeView& node, const Bounds& b) {
  const auto all = node.elements(0);
  if (!all || node.rank(0) != 1 || !b.starts || !b.ends || !b.steps) return std::nullopt;
  if (b.starts->empty()) return all;
  const auto start = (*b.starts)[0].constant(), end = (*b.ends)[0].constant(), step = (*b.steps)[0].constant();
  if (!start || !end || !step) return std::nullopt;
  const Range r = clamp(static_cast<int64_t>(all->size()), *start, *end, *step);
  std::vector<Dim> result;
  for (int64_t i = 0; i < r.length; ++i) result.push_back((*all)[static_cast<size_t>(r.start + i * r.step)]);
  return result;
}

std::vector<TensorType> infer(const NodeView& node) {
  element_bytes(node, 0);
  SymShape shape = node.shape(0);
  const Bounds b = bounds_of(node, shape.rank());
  if (!b.axes) return {{node.input(0).dtype, unknown_dims(shape.rank()), {}}};
  for (size_t i = 0; i < b.axes->size(); ++i) {
    Dim& dim = shape[(*b.axes)[i]];
    dim = b.starts && b.ends && b.steps ? sliced(dim, (*b.starts)[i], (*b.ends)[i], (*b.steps)[i]) : Dim::unknown();
  }
  return {with_elements({node.input(0).dtype, shape, {}}, slice_elements(node, b))};
}

// The concrete range of every axis, from the inputs of this run or from the attributes.
struct Ranges {
  std::array<Range, Shape::kMaxRank> of{};
};

Ranges whole(const Shape& shape) {
  Ranges ranges;
  for (int d = 0; d < shape.rank(); ++d) ranges.of[static_cast<size_t>(d)] = {0, 1, shape[d]};
  return ranges;
}

void set_range(Ranges& ranges, const Shape& shape, int64_t axis, int64_t start, int64_t end, int64_t step) {
  if (axis < 0) axis += shape.rank();
  if (axis < 0 || axis >= shape.rank() || step == 0) return;  // infer refuses these
  ranges.of[static_cast<size_t>(axis)] = clamp(shape[static_cast<int>(axis)], start, end, step);
}

void copy_ranges(const Args& args, const Ranges& ranges, int64_t size, Workers& workers) {
  const Shape& shape = args.shape(0);
  const auto from = strides_of(shape), to = strides_of(args.out_shape(0));
  StridedCopy copy;
  int64_t offset = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    offset += ranges.of[i].start * from[i];
    copy.add(args.out_shape(0)[d], from[i] * ranges.of[i].step, to[i]);
  }
  if (args.out_shape(0).count() == 0) return;
  const std::byte* x = args.in(0);
  copy.run(x + offset * size, args.out(0), size, workers);
}

Kernel prepare_attributes(const NodeView& node, Prepare&) {
  const std::vector<int64_t> starts = node.ints("starts"), ends = node.ints("ends");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  axes = node.ints("axes", axes);
  return [=, size = element_bytes(node, 0)](const Args& args, Workers& workers) {
    Ranges ranges = whole(args.shape(0));
    for (size_t i = 0; i < axes.size(); ++i) set_range(ranges, args.shape(0), axes[i], starts[i], ends[i], 1);
    copy_ranges(args, ranges, size, workers);
  };
}

Kernel prepare(const NodeView& node, Prepare&) {
  return [size = element_bytes(node, 0)](const Args& args, Workers& workers) {
    Ranges ranges = whole(args.shape(0));
    for (int64_t i = 0; i < args.shape(1).count(); ++i) {
      set_range(ranges, args.shape(0), args.has(3) ? index_at(args, 3, i) : i, index_at(args, 1, i),
                index_at(args, 2, i), args.has(4) ? index_at(args, 4, i) : 1);
    }
    copy_ranges(args, ranges, size, workers);
  };
}

}  // namespace

std::span<const OpDef> slice() {
  static constexpr OpDef kTable[] = {
      {.name = "Slice", .since = 1, .infer = infer, .prepare = prepare_attributes},
      {.name = "Slice", .since = 10, .infer = infer, .prepare = prepare},
  };
  return kTable;
}

}  // namespace nxrt::ops
