// Pad: constant, edge, reflect and wrap. Pads are an attribute at ai.onnx 2 and an input from 11 on, with axes from 18
// on. A negative pad crops.
#include <fmt/format.h>

#include <cstring>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/strided_copy.h"

namespace nxrt::ops {
namespace {

enum class Mode { constant, edge, reflect, wrap };

Mode mode_of(const NodeView& node) {
  const std::string name = node.str("mode", "constant");
  if (name == "constant") return Mode::constant;
  if (name == "edge") return Mode::edge;
  if (name == "reflect") return Mode::reflect;
  if (name == "wrap") return Mode::wrap;
  node.fail(fmt::format("attribute 'mode' is '{}', expected constant, edge, reflect or wrap", name));
}

std::vector<TensorType> infer(const NodeView& node) {
  element_bytes(node, 0);
  mode_of(node);
  SymShape shape = node.shape(0);
  const int rank = shape.rank();
  std::optional<std::vector<Dim>> pads;
  if (node.has("pads")) {
    const auto given = node.ints("pads");
    pads.emplace(given.begin(), given.end());
  } else {
    node.expect_dtype(1, DType::i64);
    pads = node.elements(1);
    if (node.has_input(2)) node.expect_same_dtype(0, 2);
  }
  std::vector<int> axes;
  const auto given_axes = axes_of(node, 3, rank);
  if (node.has_input(3)) {
    if (given_axes) axes = *given_axes;
  } else {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  if (!pads || !given_axes) return {{node.input(0).dtype, unknown_dims(rank), {}}};
  if (pads->size() != 2 * axes.size())
    node.fail(fmt::format("{} pads for {} axes, expected {}", pads->size(), axes.size(), 2 * axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = shape[axes[i]];
    dim = dim + (*pads)[i] + (*pads)[i + axes.size()];
    if (dim.constant().value_or(0) < 0)
      node.fail(fmt::format("the pads leave axis {} with {} elements", axes[i], dim.text()));
  }
  return {{node.input(0).dtype, shape, {}}};
}

// Where output coordinate `at` comes from along an axis of `dim` padded by `before`; -1: the constant.
int64_t source(Mode mode, int64_t at, int64_t before, int64_t dim) {
  const int64_t from = at - before;
  if (from >= 0 && from < dim) return from;
  if (mode == Mode::constant || dim == 0) return -1;
  if (mode == Mode::edge) return from < 0 ? 0 : dim - 1;
  if (mode == Mode::wrap) return ((from % dim) + dim) % dim;
  const int64_t period = std::max<int64_t>(1, 2 * (dim - 1));
  const int64_t phase = ((from % period) + period) % period;
  return phase < dim ? phase : period - phase;
}

using Begins = std::array<int64_t, Shape::kMaxRank>;

Begins begins_of(const Args& args, const std::vector<int64_t>& attribute) {
  const int rank = args.shape(0).rank();
  Begins begins{};
  if (!attribute.empty() || !args.has(1)) {
    for (int d = 0; d < rank; ++d) begins[static_cast<size_t>(d)] = attribute[static_cast<size_t>(d)];
    return begins;
  }
  const int64_t count = args.shape(1).count() / 2;
  for (int64_t i = 0; i < count; ++i) {
    int64_t axis = args.has(3) ? index_at(args, 3, i) : i;
    if (axis < 0) axis += rank;
    if (axis >= 0 && axis < rank) begins[static_cast<size_t>(axis)] = index_at(args, 1, i);
  }
  return begins;
}

// One innermost row at a time.
void pad_rows(const Args& args, Mode mode, const Begins& begins, const std::byte* fill, int64_t size,
              Workers& workers) {
  const Shape &x_shape = args.shape(0), &y_shape = args.out_shape(0);
  const auto strides = strides_of(x_shape);
  const int last = y_shape.rank() - 1;
  const int64_t length = last < 0 ? 1 : y_shape[last];
  const std::byte* x = args.in(0);
  std::byte* y = args.out(0);
  const int64_t rows = length == 0 ? 0 : y_shape.count() / length;
  workers.shards(rows, kElementsPerShard / (length + 1) + 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row, from = 0;
      bool inside = true;
      for (int d = last - 1; d >= 0; --d) {
        const int64_t at = source(mode, rest % y_shape[d], begins[static_cast<size_t>(d)], x_shape[d]);
        rest /= y_shape[d];
        inside = inside && at >= 0;
        from += at * strides[static_cast<size_t>(d)];
      }
      for (int64_t i = 0; i < length; ++i) {
        const int64_t at = last < 0 ? 0
                           : inside ? source(mode, i, begins[static_cast<size_t>(last)], x_shape[last])
                                    : -1;
        const std::byte* element = inside && at >= 0 ? x + (from + at) * size : fill;
        std::memcpy(y + (row * length + i) * size, element, static_cast<size_t>(size));
      }
    }
  });
}

// The attribute `value` of opset 2 in the input's type.
std::array<std::byte, 16> fill_of(const NodeView& node) {
  std::array<std::byte, 16> bytes{};
  const float value = node.f32("value", 0.0f);
  if (node.input(0).dtype == DType::f32) std::memcpy(bytes.data(), &value, sizeof value);
  const double wide = value;
  if (node.input(0).dtype == DType::f64) std::memcpy(bytes.data(), &wide, sizeof wide);
  const Half half = to_half(value);
  if (node.input(0).dtype == DType::f16) std::memcpy(bytes.data(), &half, sizeof half);
  return bytes;
}

Kernel prepare(const NodeView& node, Prepare&) {
  const std::vector<int64_t> attribute = node.ints("pads", std::vector<int64_t>{});
  return [mode = mode_of(node), attribute, zero = fill_of(node), size = element_bytes(node, 0)](const Args& args,
                                                                                                Workers& workers) {
    const std::byte* fill = zero.data();
    if (args.has(2)) fill = args.in(2);
    pad_rows(args, mode, begins_of(args, attribute), fill, size, workers);
  };
}

}  // namespace

std::span<const OpDef> pad() {
  static constexpr OpDef kTable[] = {{.name = "Pad", .since = 2, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
