// ArgMax and ArgMin: the index of the extreme along one axis; of equals the first, or the last with select_last_index.
#include "ops/support/infer.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

int axis_of(const NodeView& node) { return node.axis("axis", 0, node.rank(0)); }

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(1, 1);
  expect_types(node, 0, Numbers{});
  const int axis = axis_of(node);
  if (node.shape(0)[axis].constant() == 0) node.fail("axis " + std::to_string(axis) + " has no elements");
  std::vector<Dim> dims = node.shape(0).dims();
  if (node.i64("keepdims", 1) != 0) {
    dims[static_cast<size_t>(axis)] = 1;
  } else {
    dims.erase(dims.begin() + axis);
  }
  return {{DType::i64, SymShape(dims), {}}};
}

template <class T>
int64_t extreme(const T* x, int64_t n, int64_t stride, bool max, bool last) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    const auto a = load(x[i * stride]), b = load(x[best * stride]);
    if ((max ? a > b : a < b) || (last && a == b)) best = i;
  }
  return best;
}

Kernel prepare(const NodeView& node, Prepare&) {
  const bool max = node.node().op == "ArgMax", last = node.i64("select_last_index", 0) != 0;
  return [=, axis = axis_of(node)](const Args& args, Workers& workers) {
    const Shape& shape = args.shape(0);
    const int64_t n = shape[axis], inner = shape.count(axis + 1, shape.rank());
    int64_t* y = args.out(0);
    visit(Numbers{}, args.dtype(0), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* x = args.in(0);
      workers.each(n == 0 ? 0 : shape.count(0, axis) * inner,
                   [&](int64_t i) { y[i] = extreme(x + i / inner * n * inner + i % inner, n, inner, max, last); });
    });
  };
}

}  // namespace

std::span<const OpDef> arg_max() {
  static constexpr OpDef kTable[] = {
      {.name = "ArgMax", .since = 1, .infer = infer, .prepare = prepare},
      {.name = "ArgMin", .since = 1, .infer = infer, .prepare = prepare},
  };
  return kTable;
}

}  // namespace nxrt::ops
