// Gather, GatherElements and GatherND. A negative index counts from the end. An index that is out of range is an error
// where it is known before running; while running it reads as zero.
#include <fmt/format.h>

#include <cstring>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/strided_copy.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

void expect_index_type(const NodeView& node, int i) { expect_types(node, i, Indices{}); }

// The place of an index in [0, dim), or -1.
int64_t wrapped(int64_t index, int64_t dim) {
  if (index < 0) index += dim;
  return index >= 0 && index < dim ? index : -1;
}

void check_known(const NodeView& node, const Dim& dim) {
  const auto size = dim.constant();
  const auto indices = node.integers(1);
  if (!size || !indices) return;
  for (const int64_t index : *indices) {
    if (wrapped(index, *size) < 0) node.fail(fmt::format("index {} is out of range for an axis of {}", index, *size));
  }
}

std::optional<std::vector<Dim>> gathered_elements(const NodeView& node) {
  const auto all = node.elements(0);
  const auto indices = node.integers(1);
  if (!all || !indices || node.rank(0) != 1) return std::nullopt;
  std::vector<Dim> result;
  for (const int64_t index : *indices) {
    result.push_back((*all)[static_cast<size_t>(wrapped(index, static_cast<int64_t>(all->size())))]);
  }
  return result;
}

std::vector<TensorType> infer_gather(const NodeView& node) {
  node.expect_inputs(2, 2);
  element_bytes(node, 0);
  expect_index_type(node, 1);
  if (!node.has_shape(0) || !node.has_shape(1)) return {{node.input(0).dtype, {}, {}}};
  const SymShape &x = node.shape(0), &indices = node.shape(1);
  if (x.rank() == 0) node.fail("input 0 is a scalar, expected at least one axis");
  const int axis = node.axis("axis", 0, x.rank());
  check_known(node, x[axis]);
  std::vector<Dim> dims(x.dims().begin(), x.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + axis + 1, x.dims().end());
  return {with_elements({node.input(0).dtype, SymShape(dims), {}}, gathered_elements(node))};
}

Kernel prepare_gather(const NodeView& node, Prepare&) {
  return
      [axis = node.axis("axis", 0, node.rank(0)), size = element_bytes(node, 0)](const Args& args, Workers& workers) {
        const Shape& shape = args.shape(0);
        const int64_t dim = shape[axis], row = shape.count(axis + 1, shape.rank()) * size;
        const int64_t count = args.shape(1).count(), outer = shape.count(0, axis);
        const std::byte* x = args.in(0);
        std::byte* y = args.out(0);
        workers.shards(outer * count, (1 << 16) / (row + 1) + 1, [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t index = wrapped(index_at(args, 1, i % count), dim);
            if (index < 0) {
              std::memset(y + i * row, 0, static_cast<size_t>(row));
            } else {
              std::memcpy(y + i * row, x + (i / count * dim + index) * row, static_cast<size_t>(row));
            }
          }
        });
      };
}

std::vector<TensorType> infer_elements(const NodeView& node) {
  node.expect_inputs(2, 2);
  element_bytes(node, 0);
  expect_index_type(node, 1);
  const SymShape& x = node.shape(0);
  const int axis = node.axis("axis", 0, x.rank());
  node.expect_rank(1, x.rank());
  if (!node.has_shape(1)) return {{node.input(0).dtype, unknown_dims(x.rank()), {}}};
  for (int d = 0; d < x.rank(); ++d) {
    const auto have = x[d].constant(), want = node.shape(1)[d].constant();
    if (d != axis && have && want && *want > *have) {
      node.fail(fmt::format("input 1 has shape {}, larger than {} of input 0", node.shape(1).text(), x.text()));
    }
  }
  check_known(node, x[axis]);
  return {{node.input(0).dtype, node.shape(1), {}}};
}

Kernel prepare_elements(const NodeView& node, Prepare&) {
  return
      [axis = node.axis("axis", 0, node.rank(0)), size = element_bytes(node, 0)](const Args& args, Workers& workers) {
        const Shape &shape = args.shape(0), &index_shape = args.shape(1);
        const auto strides = strides_of(shape);
        const std::byte* x = args.in(0);
        std::byte* y = args.out(0);
        workers.shards(index_shape.count(), kElementsPerShard, [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t index = wrapped(index_at(args, 1, i), shape[axis]);
            int64_t rest = i, from = index * strides[static_cast<size_t>(axis)];
            for (int d = index_shape.rank() - 1; d >= 0; --d) {
              if (d != axis) from += rest % index_shape[d] * strides[static_cast<size_t>(d)];
              rest /= index_shape[d];
            }
            if (index < 0) {
              std::memset(y + i * size, 0, static_cast<size_t>(size));
            } else {
              std::memcpy(y + i * size, x + from * size, static_cast<size_t>(size));
            }
          }
        });
      };
}

int batch_dims_of(const NodeView& node) {
  const int64_t dims = node.i64("batch_dims", 0);
  if (dims < 0 || dims >= std::min(node.rank(0), node.rank(1))) {
    node.fail(
        fmt::format("attribute 'batch_dims' is {}, expected 0 to {}", dims, std::min(node.rank(0), node.rank(1)) - 1));
  }
  return static_cast<int>(dims);
}

std::vector<TensorType> infer_nd(const NodeView& node) {
  node.expect_inputs(2, 2);
  element_bytes(node, 0);
  node.expect_dtype(1, DType::i64);
  const SymShape &x = node.shape(0), &indices = node.shape(1);
  if (x.rank() == 0 || indices.rank() == 0) node.fail("both inputs need at least one axis");
  const int batch = batch_dims_of(node);
  const auto depth = indices[indices.rank() - 1].constant();
  if (!depth) return {{node.input(0).dtype, {}, {}}};
  if (*depth < 1 || *depth > x.rank() - batch) {
    node.fail(fmt::format("the last dim of input 1 is {}, expected 1 to {}", *depth, x.rank() - batch));
  }
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), x.dims().begin() + batch + *depth, x.dims().end());
  return {{node.input(0).dtype, SymShape(dims), {}}};
}

Kernel prepare_nd(const NodeView& node, Prepare&) {
  return [batch = batch_dims_of(node), size = element_bytes(node, 0)](const Args& args, Workers&) {
    const Shape &shape = args.shape(0), &index_shape = args.shape(1);
    const int depth = static_cast<int>(index_shape[index_shape.rank() - 1]);
    const int64_t row = shape.count(batch + depth, shape.rank()) * size, batches = shape.count(0, batch);
    const int64_t tuples = index_shape.count(batch, index_shape.rank() - 1);
    const std::byte* x = args.in(0);
    std::byte* y = args.out(0);
    const int64_t* indices = args.in(1);
    for (int64_t i = 0; i < batches * tuples; ++i, y += row) {
      int64_t from = i / tuples;
      for (int d = 0; d < depth && from >= 0; ++d) {
        const int64_t index = wrapped(indices[i * depth + d], shape[batch + d]);
        from = index < 0 ? -1 : from * shape[batch + d] + index;
      }
      if (from < 0) {
        std::memset(y, 0, static_cast<size_t>(row));
      } else {
        std::memcpy(y, x + from * row, static_cast<size_t>(row));
      }
    }
  };
}

}  // namespace

std::span<const OpDef> gather() {
  static constexpr OpDef kTable[] = {
      {.name = "Gather", .since = 1, .infer = infer_gather, .prepare = prepare_gather},
      {.name = "GatherElements", .since = 11, .infer = infer_elements, .prepare = prepare_elements},
      {.name = "GatherND", .since = 11, .infer = infer_nd, .prepare = prepare_nd},
  };
  return kTable;
}

}  // namespace nxrt::ops
