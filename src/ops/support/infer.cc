#include "ops/support/infer.h"

#include <fmt/format.h>

#include <algorithm>

namespace nxrt::ops {

std::vector<TensorType> like_input(const NodeView& node) {
  TensorType type = node.input(0);
  type.elements.reset();
  return {std::move(type)};
}

std::optional<SymShape> broadcast_inputs(const NodeView& node, int a, int b) {
  if (!node.has_shape(a) || !node.has_shape(b)) return std::nullopt;
  return broadcast(node, node.shape(a), node.shape(b));
}

namespace {

// Index into an input's elements of element `i` of the broadcast shape.
size_t source_index(int64_t i, const Shape& output, const Shape& input) {
  int64_t index = 0, stride = 1;
  for (int d = output.rank() - 1; d >= 0; --d) {
    const int64_t coordinate = i % output[d];
    i /= output[d];
    const int own = d - (output.rank() - input.rank());
    if (own < 0) continue;
    if (input[own] != 1) index += coordinate * stride;
    stride *= input[own];
  }
  return static_cast<size_t>(index);
}

}  // namespace

std::optional<std::vector<Dim>> combine_elements(const NodeView& node, const ElementRule& f) {
  const auto a = node.elements(0), b = node.elements(1);
  if (!a || !b || !node.has_shape(0) || !node.has_shape(1)) return std::nullopt;
  const auto a_shape = node.shape(0).constant(), b_shape = node.shape(1).constant();
  if (!a_shape || !b_shape) return std::nullopt;
  const Shape output = nxrt::broadcast(*a_shape, *b_shape);
  if (output.count() > kMaxPropagatedElements) return std::nullopt;
  std::vector<Dim> result;
  for (int64_t i = 0; i < output.count(); ++i) {
    result.push_back(f((*a)[source_index(i, output, *a_shape)], (*b)[source_index(i, output, *b_shape)]));
  }
  return result;
}

TensorType with_elements(TensorType type, std::optional<std::vector<Dim>> elements) {
  type.elements.reset();
  if (!elements || !type.shape || elements->size() > static_cast<size_t>(kMaxPropagatedElements)) return type;
  const auto shape = type.shape->constant();
  if (shape && shape->count() == static_cast<int64_t>(elements->size())) type.elements = std::move(elements);
  return type;
}

int64_t element_bytes(const NodeView& node, int i) {
  const int bits = bits_of(node.input(i).dtype);
  if (bits == 0 || bits % 8 != 0) {
    node.unsupported(fmt::format("input {} is {}, which this operator can't move", i, name_of(node.input(i).dtype)));
  }
  return bits / 8;
}

bool surely_nonnegative(const Dim& dim) {
  if (!dim.known()) return false;
  for (const auto& [symbols, coefficient] : dim.terms()) {
    if (coefficient < 0) return false;
  }
  return true;
}

SymShape unknown_dims(int rank) { return SymShape(std::vector<Dim>(static_cast<size_t>(rank))); }

std::optional<std::vector<int>> axes_of(const NodeView& node, int input, int rank) {
  std::vector<int64_t> given;
  if (node.has("axes")) {
    given = node.ints("axes");
  } else if (node.has_input(input)) {
    const auto known = node.integers(input);
    if (!known) return std::nullopt;
    given = *known;
  }
  std::vector<int> axes;
  for (const int64_t axis : given) {
    const int normal = node.axis_of(axis, rank);
    if (std::find(axes.begin(), axes.end(), normal) != axes.end()) node.fail(fmt::format("axis {} is repeated", axis));
    axes.push_back(normal);
  }
  return axes;
}

int64_t index_at(const Args& args, int input, int64_t i) {
  if (args.dtype(input) == DType::i32) {
    const int32_t* values = args.in(input);
    return values[i];
  }
  const int64_t* values = args.in(input);
  return values[i];
}

}  // namespace nxrt::ops
