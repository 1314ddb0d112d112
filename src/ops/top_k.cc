// TopK: the k largest (or smallest) along an axis, sorted; equal values in the order of their indices. k is an
// attribute at ai.onnx 1 and an input from 10 on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/support/infer.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

int axis_of(const NodeView& node) { return node.axis("axis", -1, node.rank(0)); }

std::vector<TensorType> infer(const NodeView& node) {
  expect_types(node, 0, Numbers{});
  SymShape shape = node.shape(0);
  const int axis = axis_of(node);
  Dim k = Dim::unknown();
  if (node.has("k")) {
    k = node.i64("k");
  } else {
    node.expect_inputs(2, 2);
    node.expect_dtype(1, DType::i64);
    if (const auto known = node.elements(1); known && known->size() == 1) k = known->front();
  }
  const auto count = k.constant(), dim = shape[axis].constant();
  if (count && (*count < 0 || (dim && *count > *dim))) {
    node.fail(fmt::format("k is {}, expected 0 to {}", *count, shape[axis].text()));
  }
  shape[axis] = k;
  return {{node.input(0).dtype, shape, {}}, {DType::i64, shape, {}}};
}

struct Line {
  int64_t n, k, stride;
  bool largest;
};

// NaN counts as the largest, as in numpy's order.
template <class T>
void select(const T* x, T* values, int64_t* indices, int64_t* order, const Line& line) {
  const auto at = [&](int64_t i) { return load(x[i * line.stride]); };
  const auto greater = [&](int64_t a, int64_t b) {
    const auto x_a = at(a), x_b = at(b);
    // NOLINTNEXTLINE(misc-redundant-expression): only NaN differs from itself
    if (x_a != x_a || x_b != x_b) return x_a != x_a && x_b == x_b;
    return x_a > x_b;
  };
  std::iota(order, order + line.n, int64_t{0});
  std::partial_sort(order, order + line.k, order + line.n, [&](int64_t a, int64_t b) {
    const bool first = line.largest ? greater(a, b) : greater(b, a),
               second = line.largest ? greater(b, a) : greater(a, b);
    return first || (!second && a < b);
  });
  for (int64_t i = 0; i < line.k; ++i) {
    values[i * line.stride] = x[order[i] * line.stride];
    indices[i * line.stride] = order[i];
  }
}

Kernel prepare(const NodeView& node, Prepare&) {
  Kernel kernel = [axis = axis_of(node), largest = node.i64("largest", 1) != 0](const Args& args, Workers& workers) {
    const Shape &shape = args.shape(0), &y_shape = args.out_shape(0);
    const int64_t inner = shape.count(axis + 1, shape.rank());
    const Line line{shape[axis], std::min(y_shape[axis], shape[axis]), inner, largest};
    int64_t* orders = args.workspace();
    visit(Numbers{}, args.dtype(0), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* x = args.in(0);
      T* values = args.out(0);
      int64_t* indices = args.out(1);
      workers.shards(shape.count(0, axis) * inner, 1, [&](int64_t begin, int64_t end, int worker) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t from = i / inner * line.n * inner + i % inner,
                        to = i / inner * y_shape[axis] * inner + i % inner;
          select(x + from, values + to, indices + to, orders + worker * line.n, line);
        }
      });
    });
  };
  kernel.workspace = [axis = axis_of(node)](const Args& args, int width) { return args.shape(0)[axis] * width * 8; };
  return kernel;
}

}  // namespace

std::span<const OpDef> top_k() {
  static constexpr OpDef kTable[] = {{.name = "TopK", .since = 1, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
