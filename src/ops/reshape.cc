// The views: Reshape, Flatten, Squeeze, Unsqueeze. Output 0 is input 0's bytes under another shape; nothing runs.
#include <fmt/format.h>

#include <algorithm>

#include "ops/support/infer.h"

namespace nxrt::ops {
namespace {

std::vector<TensorType> viewed(const NodeView& node, std::optional<SymShape> shape) {
  return {with_elements({node.input(0).dtype, std::move(shape), {}}, node.elements(0))};
}

std::string text_of(const std::vector<Dim>& dims) { return SymShape(dims).text(); }

// The dim that -1 stands for: the elements left over.
Dim inferred_dim(const NodeView& node, const std::vector<Dim>& wanted, const Dim& rest) {
  const Dim total = node.shape(0).count();
  const Dim dim = exact_quotient(total, rest);
  const auto total_count = total.constant(), rest_count = rest.constant();
  if (total_count && rest_count && (*rest_count == 0 || *total_count % *rest_count != 0)) {
    node.fail(
        fmt::format("input 0 has shape {}, which does not divide into {}", node.shape(0).text(), text_of(wanted)));
  }
  return dim;
}

// An unknown count: the rank is all that is known.
std::vector<TensorType> infer_reshape(const NodeView& node) {
  node.expect_inputs(2, 2);
  node.expect_dtype(1, DType::i64);
  const auto wanted = node.elements(1);
  if (!wanted) {
    const auto count = node.has_shape(1) ? node.shape(1).count().constant() : std::nullopt;
    if (count && *count > Shape::kMaxRank) node.fail(fmt::format("the new shape has {} dims", *count));
    return viewed(node, count ? std::optional(unknown_dims(static_cast<int>(*count))) : std::nullopt);
  }
  const bool allow_zero = node.i64("allowzero", 0) != 0;
  std::vector<Dim> dims = *wanted;
  Dim rest = 1;
  int inferred = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto value = dims[i].constant();
    if (value == -1) {
      if (inferred >= 0) node.fail(fmt::format("the new shape {} has more than one -1", text_of(*wanted)));
      inferred = static_cast<int>(i);
      continue;
    }
    if (value && *value < -1) node.fail(fmt::format("the new shape {} has a negative dim", text_of(*wanted)));
    if (value == 0 && !allow_zero) {
      if (static_cast<int>(i) >= node.rank(0)) {
        node.fail(fmt::format("dim {} of the new shape copies a dim that input 0 lacks: its shape is {}", i,
                              node.shape(0).text()));
      }
      dims[i] = node.shape(0)[static_cast<int>(i)];
    }
    rest = rest * dims[i];
  }
  if (!node.has_shape(0)) {
    if (inferred >= 0) dims[static_cast<size_t>(inferred)] = Dim::unknown();
    return viewed(node, SymShape(dims));
  }
  if (inferred >= 0) {
    dims[static_cast<size_t>(inferred)] = inferred_dim(node, *wanted, rest);
  } else if (contradict(node.shape(0).count(), rest)) {
    node.fail(fmt::format("input 0 has shape {}, which does not reshape to {}", node.shape(0).text(), text_of(dims)));
  }
  return viewed(node, SymShape(dims));
}

std::vector<TensorType> infer_flatten(const NodeView& node) {
  const SymShape& x = node.shape(0);
  const int64_t given = node.i64("axis", 1);
  if (given < -x.rank() || given > x.rank()) {
    node.fail(fmt::format("attribute 'axis' is {}, expected {} to {}", given, -x.rank(), x.rank()));
  }
  const int axis = static_cast<int>(given < 0 ? given + x.rank() : given);
  return viewed(node, SymShape{x.count(0, axis), x.count(axis, x.rank())});
}

std::vector<TensorType> infer_squeeze(const NodeView& node) {
  const SymShape& x = node.shape(0);
  const auto axes = axes_of(node, 1, x.rank());
  if (!axes) return viewed(node, std::nullopt);
  const bool all_ones = !node.has("axes") && !node.has_input(1);
  std::vector<Dim> dims;
  for (int d = 0; d < x.rank(); ++d) {
    if (all_ones) {
      if (!x[d].constant()) return viewed(node, std::nullopt);  // it may be a 1
      if (x[d].constant() != 1) dims.push_back(x[d]);
      continue;
    }
    if (std::find(axes->begin(), axes->end(), d) == axes->end()) {
      dims.push_back(x[d]);
    } else if (contradict(x[d], Dim(1))) {
      node.fail(fmt::format("dim {} of shape {} is not 1 and can't be squeezed", d, x.text()));
    }
  }
  return viewed(node, SymShape(dims));
}

std::vector<TensorType> infer_unsqueeze(const NodeView& node) {
  const SymShape& x = node.shape(0);
  size_t added = 0;
  if (node.has("axes")) {
    added = node.ints("axes").size();
  } else if (const auto known = node.integers(1)) {
    added = known->size();
  } else {
    return viewed(node, std::nullopt);
  }
  const int rank = x.rank() + static_cast<int>(added);
  if (rank > Shape::kMaxRank)
    node.fail(fmt::format("the result has rank {}, at most {} is supported", rank, Shape::kMaxRank));
  const auto axes = axes_of(node, 1, rank);
  std::vector<Dim> dims;
  for (int d = 0, from = 0; d < rank; ++d) {
    const bool is_new = std::find(axes->begin(), axes->end(), d) != axes->end();
    dims.push_back(is_new ? Dim(1) : x[from++]);
  }
  return viewed(node, SymShape(dims));
}

}  // namespace

std::span<const OpDef> reshape() {
  static constexpr OpDef kTable[] = {
      {.name = "Reshape", .since = 5, .infer = infer_reshape, .view = true},
      {.name = "Flatten", .since = 1, .infer = infer_flatten, .view = true},
      {.name = "Squeeze", .since = 1, .infer = infer_squeeze, .view = true},
      {.name = "Unsqueeze", .since = 1, .infer = infer_unsqueeze, .view = true},
  };
  return kTable;
}

}  // namespace nxrt::ops
