// Range, ai.onnx 11: start, start + delta, … below limit.
#include <cmath>

#include "ops/support/infer.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

using Allowed = decltype(Floats{} + Types<int16_t, int32_t, int64_t>{});

// max(ceil((limit - start) / delta), 0)
template <class T>
int64_t length(T start, T limit, T delta) {
  const double steps =
      std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
  return steps > 0 && steps < 9e18 ? static_cast<int64_t>(steps) : 0;
}

// Of integers, while inferring.
Dim symbolic_length(const NodeView& node, std::vector<Dim>* elements) {
  const auto start = node.elements(0), limit = node.elements(1), delta = node.elements(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) return {};
  const auto s = (*start)[0].constant(), l = (*limit)[0].constant(), d = (*delta)[0].constant();
  if (d == 0) node.fail("delta is 0");
  if (s && l && d) {
    const int64_t count = length(*s, *l, *d);
    for (int64_t i = 0; i < count && count <= kMaxPropagatedElements; ++i) elements->emplace_back(*s + i * *d);
    return count;
  }
  const Dim count = (*limit)[0] - (*start)[0];
  return d == 1 && surely_nonnegative(count) ? count : Dim::unknown();
}

// Of floats: only from constants, or from the inputs of a run.
Dim constant_length(const NodeView& node) {
  Dim result;
  const Tensor *start = node.constant(0), *limit = node.constant(1), *delta = node.constant(2);
  if (!start || !limit || !delta || start->count() != 1 || limit->count() != 1 || delta->count() != 1) return result;
  visit(Floats{}, start->dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto value = [](const Tensor* x) { return load(*static_cast<const T*>(x->raw())); };
    if (value(delta) == 0) node.fail("delta is 0");
    result = length(value(start), value(limit), value(delta));
  });
  return result;
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(3, 3);
  expect_types(node, 0, Allowed{});
  node.expect_same_dtype(0, 1);
  node.expect_same_dtype(0, 2);
  std::vector<Dim> elements;
  const DType dtype = node.input(0).dtype;
  const Dim count = is_integer(dtype) ? symbolic_length(node, &elements) : constant_length(node);
  return {with_elements({dtype, SymShape{count}, {}}, std::move(elements))};
}

std::vector<Shape> resolve(const NodeView&, const Args& args) {
  int64_t count = 0;
  visit(Allowed{}, args.dtype(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *start = args.in(0), *limit = args.in(1), *delta = args.in(2);
    if (load(*delta) != Computed<T>{0}) count = length(load(*start), load(*limit), load(*delta));
  });
  return {Shape{count}};
}

Kernel prepare(const NodeView&, Prepare&) {
  return [](const Args& args, Workers&) {
    visit(Allowed{}, args.dtype(0), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto start = load(*static_cast<const T*>(args.in(0))), delta = load(*static_cast<const T*>(args.in(2)));
      T* y = args.out(0);
      for (int64_t i = 0; i < args.out_shape(0).count(); ++i) {
        y[i] = store<T>(static_cast<Computed<T>>(start + static_cast<Computed<T>>(i) * delta));
      }
    });
  };
}

}  // namespace

std::span<const OpDef> range() {
  static constexpr OpDef kTable[] = {
      {.name = "Range", .since = 11, .infer = infer, .prepare = prepare, .resolve = resolve}};
  return kTable;
}

}  // namespace nxrt::ops
