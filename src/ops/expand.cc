// Expand, ai.onnx 8, and Tile, ai.onnx 6: repeat along axes.
#include <fmt/format.h>

#include "ops/support/infer.h"
#include "ops/support/strided_copy.h"

namespace nxrt::ops {
namespace {

std::optional<std::vector<Dim>> repeated_elements(const NodeView& node, const SymShape& shape) {
  const auto one = node.elements(0);
  const auto concrete = shape.constant();
  if (!one || !concrete || concrete->count() > kMaxPropagatedElements) return std::nullopt;
  if (one->size() == static_cast<size_t>(concrete->count())) return one;
  if (one->size() != 1) return std::nullopt;
  return std::vector<Dim>(static_cast<size_t>(concrete->count()), one->front());
}

std::vector<TensorType> infer_expand(const NodeView& node) {
  node.expect_inputs(2, 2);
  element_bytes(node, 0);
  node.expect_dtype(1, DType::i64);
  const auto wanted = node.elements(1);
  if (wanted) {
    const SymShape shape = broadcast(node, node.shape(0), SymShape(*wanted));
    return {with_elements({node.input(0).dtype, shape, {}}, repeated_elements(node, shape))};
  }
  const auto count = node.has_shape(1) ? node.shape(1).count().constant() : std::nullopt;
  if (!count || *count > Shape::kMaxRank) return {{node.input(0).dtype, {}, {}}};
  return {{node.input(0).dtype, broadcast(node, node.shape(0), unknown_dims(static_cast<int>(*count))), {}}};
}

Kernel prepare_expand(const NodeView& node, Prepare&) {
  return [size = element_bytes(node, 0)](const Args& args, Workers& workers) {
    const Shape &x = args.shape(0), &y = args.out_shape(0);
    const auto from = strides_of(x), to = strides_of(y);
    StridedCopy copy;
    for (int d = 0; d < y.rank(); ++d) {
      const int own = d - (y.rank() - x.rank());
      copy.add(y[d], own < 0 || x[own] == 1 ? 0 : from[static_cast<size_t>(own)], to[static_cast<size_t>(d)]);
    }
    copy.run(args.in(0), args.out(0), size, workers);
  };
}

std::vector<TensorType> infer_tile(const NodeView& node) {
  node.expect_inputs(2, 2);
  element_bytes(node, 0);
  node.expect_dtype(1, DType::i64);
  SymShape shape = node.shape(0);
  const auto repeats = node.elements(1);
  if (!repeats) return {{node.input(0).dtype, unknown_dims(shape.rank()), {}}};
  if (repeats->size() != static_cast<size_t>(shape.rank())) {
    node.fail(fmt::format("input 1 has {} repeats, expected {}", repeats->size(), shape.rank()));
  }
  for (int d = 0; d < shape.rank(); ++d) {
    const Dim& times = (*repeats)[static_cast<size_t>(d)];
    if (times.constant().value_or(0) < 0) node.fail(fmt::format("repeat {} is {}", d, times.text()));
    shape[d] = shape[d] * times;
  }
  return {with_elements({node.input(0).dtype, shape, {}}, repeated_elements(node, shape))};
}

Kernel prepare_tile(const NodeView& node, Prepare&) {
  return [size = element_bytes(node, 0)](const Args& args, Workers& workers) {
    const Shape &x = args.shape(0), &y = args.out_shape(0);
    const auto from = strides_of(x), to = strides_of(y);
    StridedCopy copy;
    for (int d = 0; d < y.rank(); ++d) {
      const size_t i = static_cast<size_t>(d);
      copy.add(x[d] == 0 ? 0 : y[d] / x[d], 0, to[i] * x[d]);
      copy.add(x[d], from[i], to[i]);
    }
    copy.run(args.in(0), args.out(0), size, workers);
  };
}

}  // namespace

std::span<const OpDef> expand() {
  static constexpr OpDef kTable[] = {
      {.name = "Expand", .since = 8, .infer = infer_expand, .prepare = prepare_expand},
      {.name = "Tile", .since = 6, .infer = infer_tile, .prepare = prepare_tile},
  };
  return kTable;
}

}  // namespace nxrt::ops
