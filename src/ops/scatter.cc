// ScatterElements (and its old name Scatter) and ScatterND: a copy of the data with updates written or reduced into it,
// in order. An index out of range is skipped.
#include <fmt/format.h>

#include <cstring>

#include "ops/support/infer.h"
#include "ops/support/strided_copy.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

enum class Reduction { none, add, mul, min, max };

Reduction reduction_of(const NodeView& node) {
  const std::string name = node.str("reduction", "none");
  if (name == "none") return Reduction::none;
  if (name == "add") return Reduction::add;
  if (name == "mul") return Reduction::mul;
  if (name == "min") return Reduction::min;
  if (name == "max") return Reduction::max;
  node.fail(fmt::format("attribute 'reduction' is '{}', expected none, add, mul, min or max", name));
}

int64_t wrapped(int64_t index, int64_t dim) {
  if (index < 0) index += dim;
  return index >= 0 && index < dim ? index : -1;
}

template <class T>
T combined(Reduction how, T old, T update) {
  const Computed<T> a = load(old), b = load(update);
  const auto integer = [](uint64_t x) { return static_cast<T>(x); };
  switch (how) {
    case Reduction::none: return update;
    case Reduction::min: return b < a ? update : old;
    case Reduction::max: return a < b ? update : old;
    case Reduction::add:
      if constexpr (std::is_integral_v<T>)
        return integer(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      else
        return store<T>(a + b);
    case Reduction::mul:
      if constexpr (std::is_integral_v<T>)
        return integer(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      else
        return store<T>(a * b);
  }
  return update;
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(3, 3);
  expect_types(node, 0, AnyFixed{});
  expect_types(node, 1, Indices{});
  node.expect_same_dtype(0, 2);
  reduction_of(node);
  return like_input(node);
}

std::vector<TensorType> infer_elements(const NodeView& node) {
  const SymShape& x = node.shape(0);
  node.axis("axis", 0, x.rank());
  node.expect_rank(1, x.rank());
  if (node.has_shape(1)) node.expect_shape(2, node.shape(1));
  return infer(node);
}

std::vector<TensorType> infer_nd(const NodeView& node) {
  const SymShape &x = node.shape(0), &indices = node.shape(1);
  if (indices.rank() == 0) node.fail("input 1 is a scalar, expected index tuples");
  const auto depth = indices[indices.rank() - 1].constant();
  if (depth && (*depth < 1 || *depth > x.rank())) {
    node.fail(fmt::format("the last dim of input 1 is {}, expected 1 to {}", *depth, x.rank()));
  }
  if (depth) {
    std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
    dims.insert(dims.end(), x.dims().begin() + *depth, x.dims().end());
    node.expect_shape(2, SymShape(dims));
  }
  return infer(node);
}

void start_from_data(const Args& args) {
  const int64_t bytes = bytes_of(args.dtype(0), args.shape(0).count());
  void* y = args.out(0);
  const void* x = args.in(0);
  if (y != x && bytes > 0) std::memcpy(y, x, static_cast<size_t>(bytes));
}

template <class T>
void scatter_elements(const Args& args, int axis, Reduction how) {
  const Shape &shape = args.shape(0), &index_shape = args.shape(1);
  const auto strides = strides_of(shape);
  const T* updates = args.in(2);
  T* y = args.out(0);
  for (int64_t i = 0; i < index_shape.count(); ++i) {
    int64_t rest = i, to = 0;
    bool inside = true;
    for (int d = index_shape.rank() - 1; d >= 0; --d) {
      const int64_t at = d == axis ? wrapped(index_at(args, 1, i), shape[d]) : rest % index_shape[d];
      rest /= index_shape[d];
      inside = inside && at >= 0 && at < shape[d];
      to += at * strides[static_cast<size_t>(d)];
    }
    if (inside) y[to] = combined(how, y[to], updates[i]);
  }
}

template <class T>
void scatter_nd(const Args& args, Reduction how) {
  const Shape &shape = args.shape(0), &index_shape = args.shape(1);
  const int depth = static_cast<int>(index_shape[index_shape.rank() - 1]);
  const int64_t row = shape.count(depth, shape.rank()), tuples = index_shape.count(0, index_shape.rank() - 1);
  const T* updates = args.in(2);
  T* y = args.out(0);
  for (int64_t i = 0; i < tuples; ++i) {
    int64_t to = 0;
    for (int d = 0; d < depth && to >= 0; ++d) {
      const int64_t index = wrapped(index_at(args, 1, i * depth + d), shape[d]);
      to = index < 0 ? -1 : to * shape[d] + index;
    }
    for (int64_t j = 0; j < row && to >= 0; ++j) y[to * row + j] = combined(how, y[to * row + j], updates[i * row + j]);
  }
}

template <bool kElements>
Kernel prepare(const NodeView& node, Prepare&) {
  Kernel kernel;
  const int axis = kElements ? node.axis("axis", 0, node.rank(0)) : 0;
  visit(AnyFixed{}, node.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel = [axis, how = reduction_of(node)](const Args& args, Workers&) {
      start_from_data(args);
      if constexpr (kElements) {
        scatter_elements<T>(args, axis, how);
      } else {
        scatter_nd<T>(args, how);
      }
    };
  });
  kernel.in_place = 0;
  return kernel;
}

}  // namespace

std::span<const OpDef> scatter() {
  static constexpr OpDef kTable[] = {
      {.name = "Scatter", .since = 9, .infer = infer_elements, .prepare = prepare<true>},
      {.name = "ScatterElements", .since = 11, .infer = infer_elements, .prepare = prepare<true>},
      {.name = "ScatterND", .since = 11, .infer = infer_nd, .prepare = prepare<false>},
  };
  return kTable;
}

}  // namespace nxrt::ops
