// Clip: y = min(max(x, low), high). The bounds are attributes at ai.onnx 6 and optional scalar inputs from 11 on. When
// low > high the result is high.
#include <limits>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

std::vector<TensorType> infer(const NodeView& node) {
  expect_types(node, 0, Numbers{});
  for (int bound = 1; bound <= 2; ++bound) {
    if (!node.has_input(bound)) continue;
    node.expect_same_dtype(0, bound);
    if (node.has_shape(bound) && contradict(node.shape(bound).count(), Dim(1))) {
      node.fail("input " + std::to_string(bound) + " has shape " + node.shape(bound).text() + ", expected a scalar");
    }
  }
  return like_input(node);
}

template <class T>
struct Bounds {
  Computed<T> low, high;
};

template <class T>
void clip(const Args& args, Workers& workers, const Bounds<T>& bounds) {
  const T* x = args.in(0);
  T* y = args.out(0);
  workers.shards(args.shape(0).count(), kElementsPerShard, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      Computed<T> v = load(x[i]);
      if (v < bounds.low) v = bounds.low;  // NaN passes through both
      if (v > bounds.high) v = bounds.high;
      y[i] = store<T>(v);
    }
  });
}

template <class T>
constexpr Bounds<T> no_bounds() {
  using Limits = std::numeric_limits<Computed<T>>;
  if constexpr (Limits::has_infinity) return {-Limits::infinity(), Limits::infinity()};
  return {Limits::lowest(), Limits::max()};
}

Kernel in_place(Kernel kernel) {
  kernel.in_place = 0;
  return kernel;
}

Kernel prepare(const NodeView& node, Prepare&) {
  Kernel kernel;
  visit(Numbers{}, node.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel = [](const Args& args, Workers& workers) {
      Bounds<T> bounds = no_bounds<T>();
      if (args.has(1)) bounds.low = load(*static_cast<const T*>(args.in(1)));
      if (args.has(2)) bounds.high = load(*static_cast<const T*>(args.in(2)));
      clip<T>(args, workers, bounds);
    };
  });
  return in_place(std::move(kernel));
}

Kernel prepare_attributes(const NodeView& node, Prepare&) {
  Kernel kernel;
  const float low = node.f32("min", std::numeric_limits<float>::lowest());
  const float high = node.f32("max", std::numeric_limits<float>::max());
  visit(Floats{}, node.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel = [low, high](const Args& args, Workers& workers) { clip<T>(args, workers, {low, high}); };
  });
  return in_place(std::move(kernel));
}

std::vector<TensorType> infer_attributes(const NodeView& node) {
  expect_types(node, 0, Floats{});
  return like_input(node);
}

}  // namespace

std::span<const OpDef> clip() {
  static constexpr OpDef kTable[] = {
      {.name = "Clip", .since = 6, .infer = infer_attributes, .prepare = prepare_attributes},
      {.name = "Clip", .since = 11, .infer = infer, .prepare = prepare},
  };
  return kTable;
}

}  // namespace nxrt::ops
