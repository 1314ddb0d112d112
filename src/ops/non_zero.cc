// NonZero, ai.onnx 9: coordinates [rank, count] of the elements that are not zero, in row-major order. Compress,
// ai.onnx 9: the slices a condition keeps. Their output shapes depend on the data.
#include <algorithm>
#include <cstring>

#include "ops/support/infer.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

std::vector<TensorType> infer_non_zero(const NodeView& node) {
  node.expect_inputs(1, 1);
  expect_types(node, 0, AnyFixed{});
  const Dim rank = node.has_shape(0) ? Dim(node.rank(0)) : Dim::unknown();
  return {{DType::i64, SymShape{rank, Dim::unknown()}, {}}};
}

template <class F>
void each_non_zero(const Args& args, F&& found) {
  visit(AnyFixed{}, args.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = args.in(0);
    for (int64_t i = 0; i < args.shape(0).count(); ++i) {
      if (load(x[i]) != Computed<T>{0}) found(i);
    }
  });
}

std::vector<Shape> resolve_non_zero(const NodeView&, const Args& args) {
  int64_t count = 0;
  each_non_zero(args, [&](int64_t) { ++count; });
  return {Shape{args.shape(0).rank(), count}};
}

Kernel prepare_non_zero(const NodeView&, Prepare&) {
  return [](const Args& args, Workers&) {
    const Shape& shape = args.shape(0);
    const int64_t count = args.out_shape(0)[1];
    int64_t* y = args.out(0);
    int64_t next = 0;
    each_non_zero(args, [&](int64_t i) {
      for (int d = shape.rank() - 1; d >= 0; --d) {
        y[d * count + next] = i % shape[d];
        i /= shape[d];
      }
      ++next;
    });
  };
}

std::vector<TensorType> infer_compress(const NodeView& node) {
  node.expect_inputs(2, 2);
  element_bytes(node, 0);
  node.expect_dtype(1, DType::boolean);
  node.expect_rank(1, 1);
  if (!node.has("axis")) return {{node.input(0).dtype, SymShape{Dim::unknown()}, {}}};
  SymShape shape = node.shape(0);
  shape[node.axis("axis", 0, shape.rank())] = Dim::unknown();
  return {{node.input(0).dtype, shape, {}}};
}

// The input as [outer, n, inner]; without an axis it is flat.
struct Slices {
  int64_t outer = 1, n, inner = 1, kept = 0;
  int axis = -1;
  Slices(const NodeView& node, const Args& args)
      : Slices(node.has("axis") ? node.axis("axis", 0, args.shape(0).rank()) : -1, args) {}
  Slices(int along, const Args& args) : n(args.shape(0).count()), axis(along) {
    const Shape& shape = args.shape(0);
    if (axis >= 0) {
      outer = shape.count(0, axis);
      n = shape[axis];
      inner = shape.count(axis + 1, shape.rank());
    }
    const bool* condition = args.in(1);
    kept = std::count(condition, condition + std::min(n, args.shape(1).count()), true);
  }
};

std::vector<Shape> resolve_compress(const NodeView& node, const Args& args) {
  const Slices slices(node, args);
  return {slices.axis < 0 ? Shape{slices.kept} : args.shape(0).with(slices.axis, slices.kept)};
}

Kernel prepare_compress(const NodeView& node, Prepare&) {
  const int axis = node.has("axis") ? node.axis("axis", 0, node.rank(0)) : -1;
  return [axis, size = element_bytes(node, 0)](const Args& args, Workers&) {
    const Slices slices(axis, args);
    const bool* condition = args.in(1);
    const std::byte* x = args.in(0);
    std::byte* y = args.out(0);
    const int64_t row = slices.inner * size, known = std::min(slices.n, args.shape(1).count());
    for (int64_t o = 0; o < slices.outer; ++o) {
      for (int64_t i = 0; i < known; ++i) {
        if (!condition[i]) continue;
        if (row > 0) std::memcpy(y, x + (o * slices.n + i) * row, static_cast<size_t>(row));
        y += row;
      }
    }
  };
}

}  // namespace

std::span<const OpDef> non_zero() {
  static constexpr OpDef kTable[] = {
      {.name = "NonZero",
       .since = 9,
       .infer = infer_non_zero,
       .prepare = prepare_non_zero,
       .resolve = resolve_non_zero},
      {.name = "Compress",
       .since = 9,
       .infer = infer_compress,
       .prepare = prepare_compress,
       .resolve = resolve_compress},
  };
  return kTable;
}

}  // namespace nxrt::ops
