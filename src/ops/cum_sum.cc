// CumSum, ai.onnx 11: running sums along an axis given as an input; exclusive leaves out the element itself, reverse
// runs from the end.
#include "ops/support/infer.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 2);
  expect_types(node, 0, Numbers{});
  expect_types(node, 1, Indices{});
  if (const auto axis = node.integers(1); axis && node.has_shape(0)) node.axis_of(axis->at(0), node.rank(0));
  return like_input(node);
}

template <class T>
void sum_line(const T* x, T* y, int64_t n, int64_t stride, bool exclusive, bool reverse) {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, Computed<T>>;
  Sum total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = (reverse ? n - 1 - i : i) * stride;
    const Sum v = static_cast<Sum>(load(x[at]));  // modular for integers. NOLINT(bugprone-signed-char-misuse)
    if (exclusive) y[at] = store<T>(static_cast<Computed<T>>(total));
    total += v;
    if (!exclusive) y[at] = store<T>(static_cast<Computed<T>>(total));
  }
}

Kernel prepare(const NodeView& node, Prepare&) {
  const bool exclusive = node.i64("exclusive", 0) != 0, reverse = node.i64("reverse", 0) != 0;
  return [=](const Args& args, Workers& workers) {
    const Shape& shape = args.shape(0);
    int64_t axis = index_at(args, 1, 0);
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank()) axis = 0;  // infer refuses it where it is known
    const int d = static_cast<int>(axis);
    const int64_t n = shape[d], inner = shape.count(d + 1, shape.rank());
    visit(Numbers{}, args.dtype(0), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* x = args.in(0);
      T* y = args.out(0);
      workers.each(shape.count(0, d) * inner, [&](int64_t i) {
        const int64_t at = i / inner * n * inner + i % inner;
        sum_line(x + at, y + at, n, inner, exclusive, reverse);
      });
    });
  };
}

}  // namespace

std::span<const OpDef> cum_sum() {
  static constexpr OpDef kTable[] = {{.name = "CumSum", .since = 11, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
