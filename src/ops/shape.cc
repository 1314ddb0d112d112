// Shape (with start and end from ai.onnx 15 on) and Size: dims as integers.
#include <algorithm>

#include "ops/support/infer.h"

namespace nxrt::ops {
namespace {

struct Interval {
  int begin, end;
};

Interval interval(const NodeView& node, int rank) {
  const auto clamped = [&](int64_t x) { return static_cast<int>(std::clamp<int64_t>(x < 0 ? x + rank : x, 0, rank)); };
  const int begin = clamped(node.i64("start", 0));
  return {begin, std::max(begin, clamped(node.i64("end", rank)))};
}

std::vector<TensorType> infer_shape(const NodeView& node) {
  node.expect_inputs(1, 1);
  if (!node.has_shape(0)) return {{DType::i64, SymShape{Dim::unknown()}, {}}};
  const SymShape& x = node.shape(0);
  const Interval part = interval(node, x.rank());
  std::vector<Dim> dims(x.dims().begin() + part.begin, x.dims().begin() + part.end);
  const Dim count = static_cast<int64_t>(dims.size());
  return {with_elements({DType::i64, SymShape{count}, {}}, std::move(dims))};
}

Kernel prepare_shape(const NodeView& node, Prepare&) {
  return [part = interval(node, node.rank(0))](const Args& args, Workers&) {
    int64_t* y = args.out(0);
    for (int d = part.begin; d < part.end; ++d) y[d - part.begin] = args.shape(0)[d];
  };
}

std::vector<TensorType> infer_size(const NodeView& node) {
  node.expect_inputs(1, 1);
  TensorType type{DType::i64, SymShape{}, {}};
  if (!node.has_shape(0)) return {type};
  return {with_elements(std::move(type), std::vector<Dim>{node.shape(0).count()})};
}

Kernel prepare_size(const NodeView&, Prepare&) {
  return [](const Args& args, Workers&) { *static_cast<int64_t*>(args.out(0)) = args.shape(0).count(); };
}

}  // namespace

std::span<const OpDef> shape() {
  static constexpr OpDef kTable[] = {
      {.name = "Shape", .since = 1, .infer = infer_shape, .prepare = prepare_shape},
      {.name = "Size", .since = 1, .infer = infer_size, .prepare = prepare_size},
  };
  return kTable;
}

}  // namespace nxrt::ops
