// Concat, ai.onnx 4 (axis required; 1 by default before).
#include <fmt/format.h>

#include "ops/support/infer.h"
#include "ops/support/strided_copy.h"

namespace nxrt::ops {
namespace {

int axis_for(const NodeView& node) {
  return node.node().opset != 0 && node.node().opset < 4 ? node.axis("axis", 1, node.rank(0))
                                                         : node.axis_of(node.i64("axis"), node.rank(0));
}

std::optional<std::vector<Dim>> joined_elements(const NodeView& node) {
  std::vector<Dim> all;
  for (int i = 0; i < node.inputs(); ++i) {
    const auto part = node.elements(i);
    if (!part) return std::nullopt;
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

std::vector<TensorType> infer(const NodeView& node) {
  const DType dtype = node.input(0).dtype;
  element_bytes(node, 0);
  for (int i = 0; i < node.inputs(); ++i) {
    node.expect_same_dtype(0, i);
    if (!node.has_shape(i)) return {{dtype, {}, {}}};
  }
  const int axis = axis_for(node);
  SymShape shape = node.shape(0);
  for (int i = 1; i < node.inputs(); ++i) {
    node.expect_rank(i, shape.rank());
    const SymShape& x = node.shape(i);
    for (int d = 0; d < shape.rank(); ++d) {
      if (d == axis) {
        shape[d] = shape[d] + x[d];
      } else if (contradict(shape[d], x[d])) {
        node.fail(fmt::format("input {} has shape {}, which can't follow {} along axis {}", i, x.text(),
                              node.shape(0).text(), axis));
      } else if (!shape[d].is_constant() && x[d].known()) {
        shape[d] = x[d];
      }
    }
  }
  TensorType type{dtype, shape, {}};
  if (shape.rank() == 1) return {with_elements(std::move(type), joined_elements(node))};
  return {std::move(type)};
}

Kernel prepare(const NodeView& node, Prepare&) {
  return [axis = axis_for(node), size = element_bytes(node, 0)](const Args& args, Workers& workers) {
    const Shape& y_shape = args.out_shape(0);
    std::byte* y = args.out(0);
    const int64_t outer = y_shape.count(0, axis), y_row = y_shape.count(axis, y_shape.rank());
    int64_t at = 0;
    for (int i = 0; i < static_cast<int>(args.in_slots.size()); ++i) {
      const int64_t row = args.shape(i).count(axis, y_shape.rank());
      StridedCopy copy;
      copy.add(outer, row, y_row);
      copy.add(row, 1, 1);
      copy.run(args.in(i), y + at * size, size, workers);
      at += row;
    }
  };
}

}  // namespace

std::span<const OpDef> concat() {
  static constexpr OpDef kTable[] = {{.name = "Concat", .since = 1, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
