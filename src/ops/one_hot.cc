// OneHot, ai.onnx 9: values[1] where the new axis' coordinate is the index, values[0] elsewhere; an index outside
// [-depth, depth) gives only values[0].
#include <cmath>
#include <cstring>

#include "ops/support/infer.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

int axis_of(const NodeView& node) { return node.axis("axis", -1, node.rank(0) + 1); }

Dim depth_of(const NodeView& node) {
  const auto depth = node.elements(1);
  if (depth && depth->size() == 1) {
    if ((*depth)[0].constant().value_or(0) < 0) node.fail("the depth is " + (*depth)[0].text());
    return (*depth)[0];
  }
  return Dim::unknown();
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(3, 3);
  expect_types(node, 0, Numbers{});
  expect_types(node, 1, Numbers{});
  element_bytes(node, 2);
  if (node.has_shape(2)) node.expect_shape(2, SymShape{2});
  std::vector<Dim> dims = node.shape(0).dims();
  dims.insert(dims.begin() + axis_of(node), depth_of(node));
  return {{node.input(2).dtype, SymShape(dims), {}}};
}

int64_t number_at(const Args& args, int input, int64_t i) {
  int64_t value = 0;
  visit(Numbers{}, args.dtype(input), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto x = load(static_cast<const T*>(args.in(input))[i]);
    if constexpr (std::is_floating_point_v<decltype(x + x)>) {
      value = std::abs(x) < 9e18f ? static_cast<int64_t>(x) : INT64_MAX;
    } else {
      value = static_cast<int64_t>(x);  // a number, of whatever type. NOLINT(bugprone-signed-char-misuse)
    }
  });
  return value;
}

std::vector<Shape> resolve(const NodeView& node, const Args& args) {
  const int axis = axis_of(node);
  const auto dims = args.shape(0).dims();
  std::vector<int64_t> out(dims.begin(), dims.end());
  out.insert(out.begin() + axis, std::max<int64_t>(0, number_at(args, 1, 0)));
  return {Shape(out)};
}

Kernel prepare(const NodeView& node, Prepare&) {
  return [axis = axis_of(node), size = element_bytes(node, 2)](const Args& args, Workers&) {
    const Shape& y_shape = args.out_shape(0);
    const int64_t depth = y_shape[axis], inner = y_shape.count(axis + 1, y_shape.rank());
    const std::byte* values = args.in(2);
    std::byte* y = args.out(0);
    for (int64_t i = 0; i < y_shape.count(); ++i) std::memcpy(y + i * size, values, static_cast<size_t>(size));
    for (int64_t i = 0; i < args.shape(0).count(); ++i) {
      int64_t index = number_at(args, 0, i);
      if (index < 0) index += depth;
      if (index < 0 || index >= depth) continue;
      const int64_t to = (i / inner * depth + index) * inner + i % inner;
      std::memcpy(y + to * size, values + size, static_cast<size_t>(size));
    }
  };
}

}  // namespace

std::span<const OpDef> one_hot() {
  static constexpr OpDef kTable[] = {
      {.name = "OneHot", .since = 9, .infer = infer, .prepare = prepare, .resolve = resolve}};
  return kTable;
}

}  // namespace nxrt::ops
