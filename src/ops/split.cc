// Split: part lengths are an attribute (2, 11) or an input (13); without them the axis divides evenly, or, from 18 on
// with num_outputs, into ceil-sized parts with a smaller last one.
#include <fmt/format.h>

#include "ops/support/infer.h"
#include "ops/support/strided_copy.h"

namespace nxrt::ops {
namespace {

// One length per output; unknown where only running can tell.
std::vector<Dim> lengths_of(const NodeView& node, const Dim& total) {
  const size_t parts = static_cast<size_t>(node.outputs());
  std::vector<Dim> lengths(parts);
  std::optional<std::vector<Dim>> given;
  if (node.has("split")) {
    given.emplace();
    for (const int64_t length : node.ints("split")) given->emplace_back(length);
  } else if (node.has_input(1)) {
    given = node.elements(1);
    if (!given) return lengths;
  }
  if (given) {
    Dim sum = 0;
    for (const Dim& length : *given) {
      if (length.constant().value_or(0) < 0) node.fail("a split length is negative");
      sum = sum + length;
    }
    if (given->size() != parts) node.fail(fmt::format("{} split lengths for {} outputs", given->size(), parts));
    if (contradict(sum, total)) {
      node.fail(fmt::format("the split lengths add up to {}, expected {}", sum.text(), total.text()));
    }
    return *given;
  }
  if (node.has("num_outputs") && node.i64("num_outputs") != static_cast<int64_t>(parts)) {
    node.fail(fmt::format("attribute 'num_outputs' is {}, expected {}", node.i64("num_outputs"), parts));
  }
  const auto size = total.constant();
  const int64_t count = static_cast<int64_t>(parts);
  if (!size) {
    for (Dim& length : lengths) length = exact_quotient(total, Dim(count));
    return lengths;
  }
  if (*size % count != 0 && !node.has("num_outputs")) {
    node.fail(fmt::format("an axis of {} does not divide into {} equal parts", *size, count));
  }
  int64_t left = *size;
  const int64_t chunk = (*size + count - 1) / count;
  for (Dim& length : lengths) {
    length = std::min(chunk, left);
    left -= std::min(chunk, left);
  }
  return lengths;
}

std::optional<std::vector<Dim>> part_of(const NodeView& node, const std::vector<Dim>& lengths, size_t part) {
  const auto all = node.elements(0);
  if (!all || node.rank(0) != 1) return std::nullopt;
  int64_t begin = 0;
  for (size_t i = 0; i < part; ++i) {
    if (!lengths[i].constant()) return std::nullopt;
    begin += *lengths[i].constant();
  }
  const auto length = lengths[part].constant();
  if (!length || begin + *length > static_cast<int64_t>(all->size())) return std::nullopt;
  return std::vector<Dim>(all->begin() + begin, all->begin() + begin + *length);
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(1, 2);
  element_bytes(node, 0);
  const SymShape& x = node.shape(0);
  const int axis = node.axis("axis", 0, x.rank());
  const std::vector<Dim> lengths = lengths_of(node, x[axis]);
  std::vector<TensorType> types;
  for (size_t i = 0; i < lengths.size(); ++i) {
    SymShape part = x;
    part[axis] = lengths[i];
    types.push_back(with_elements({node.input(0).dtype, part, {}}, part_of(node, lengths, i)));
  }
  return types;
}

Kernel prepare(const NodeView& node, Prepare&) {
  const int axis = node.axis("axis", 0, node.rank(0));
  return [axis, size = element_bytes(node, 0)](const Args& args, Workers& workers) {
    const Shape& shape = args.shape(0);
    const std::byte* x = args.in(0);
    const int64_t outer = shape.count(0, axis), x_row = shape.count(axis, shape.rank());
    int64_t at = 0;
    for (int i = 0; i < static_cast<int>(args.out_slots.size()); ++i) {
      const int64_t row = args.out_shape(i).count(axis, shape.rank());
      StridedCopy copy;
      copy.add(outer, x_row, row);
      copy.add(row, 1, 1);
      if (args.has_out(i)) copy.run(x + at * size, args.out(i), size, workers);
      at += row;
    }
  };
}

}  // namespace

std::span<const OpDef> split() {
  static constexpr OpDef kTable[] = {{.name = "Split", .since = 2, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
