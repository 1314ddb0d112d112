// com.microsoft GatherBlockQuantized: Gather along gather_axis of data quantized in blocks along quantize_axis, then
// (q − zero_point) · scale. Reads only the gathered rows, in place.
// data: u8 with `bits` 2, 4 or 8 packed along the last axis, low bits first (zero point 2^(bits−1) by default), or
// u4 / i4 (zero point 0 by default). An index outside the axis gives zeros.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/op.h"
#include "ops/support/float_rows.h"

namespace nxrt::ops {
namespace {

struct Attributes {
  int gather_axis, quantize_axis;
  int64_t block, bits, per_byte;  // per_byte: elements of u8 data in one byte; 1 when the dtype is 4-bit itself
  bool is_signed;

  explicit Attributes(const NodeView& node)
      : gather_axis(node.axis("gather_axis", 0, node.rank(0))),
        quantize_axis(node.axis("quantize_axis", 1, node.rank(0))),
        block(node.i64("block_size", 128)),
        bits(node.i64("bits", 4)),
        per_byte(1),
        is_signed(node.input(0).dtype == DType::i4) {
    if (block < 16 || (block & (block - 1)) != 0) {
      node.fail(fmt::format("block_size is {}, expected a power of two from 16 on", block));
    }
    if (node.input(0).dtype != DType::u8) {
      bits = 4;
      return;
    }
    if (bits != 2 && bits != 4 && bits != 8) node.fail(fmt::format("bits is {}, expected 2, 4 or 8", bits));
    if (gather_axis != 0 || quantize_axis != node.rank(0) - 1) {
      node.fail(fmt::format("gather_axis is {} and quantize_axis {}, expected 0 and the last for packed u8 data",
                            gather_axis, quantize_axis));
    }
    per_byte = 8 / bits;
  }
};

// data's shape in elements.
SymShape logical_shape(const NodeView& node, const Attributes& a) {
  SymShape shape = node.shape(0);
  const int last = shape.rank() - 1;
  shape[last] = shape[last] * Dim(a.per_byte);
  return shape;
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(3, 4);
  node.expect_dtype(0, {DType::u8, DType::u4, DType::i4});
  node.expect_dtype(1, {DType::i32, DType::i64});
  node.expect_dtype(2, kRowDTypes);
  const Attributes a(node);
  const SymShape data = logical_shape(node, a);
  SymShape scales = data;
  if (const auto size = data[a.quantize_axis].constant()) scales[a.quantize_axis] = (*size + a.block - 1) / a.block;
  node.expect_shape(2, scales);
  if (node.has_input(3)) {
    node.expect_same_dtype(3, 0);
    const int last = scales.rank() - 1;
    if (const auto size = scales[last].constant()) scales[last] = (*size + a.per_byte - 1) / a.per_byte;
    node.expect_shape(3, scales);
  }
  std::vector<Dim> dims(data.dims().begin(), data.dims().begin() + a.gather_axis);
  dims.insert(dims.end(), node.shape(1).dims().begin(), node.shape(1).dims().end());
  dims.insert(dims.end(), data.dims().begin() + a.gather_axis + 1, data.dims().end());
  return {{.dtype = node.input(2).dtype, .shape = SymShape(dims)}};
}

// Element i of packed unsigned or signed values.
int element(const void* data, int64_t i, int64_t bits, bool is_signed) {
  const int64_t bit = i * bits;
  const int value = static_cast<const uint8_t*>(data)[bit / 8] >> (bit % 8) & ((1 << bits) - 1);
  return is_signed && value >= 8 ? value - 16 : value;
}

struct Gather {
  const Kernels& cpu;
  Attributes attrs;

  // Sizes in elements: data is [before, quantized, after], its blocks [before, blocks, after].
  struct Layout {
    int64_t quantized, after, blocks, point_row;  // point_row: elements between rows of packed zero points
  };

  Layout layout(const Args& args) const {
    const Shape &data = args.shape(0), &scales = args.shape(2);
    const int q = attrs.quantize_axis;
    const bool last = q == data.rank() - 1;
    const int64_t quantized = data[q] * (last ? attrs.per_byte : 1);
    return {quantized, data.count(q + 1, data.rank()), scales[q], round_up(scales[q], attrs.per_byte)};
  }

  // n elements from element `at` of the data on, as floats.
  void dequantize(const Args& args, const Layout& l, int64_t at, int64_t n, float* y) const {
    const int fallback = args.dtype(0) == DType::u8 ? 1 << (attrs.bits - 1) : 0;
    for (int64_t i = 0; i < n;) {
      const int64_t after = (at + i) % l.after, q = (at + i) / l.after % l.quantized,
                    before = (at + i) / l.after / l.quantized;
      const int64_t b = q / attrs.block;
      const int64_t scale_at = (before * l.blocks + b) * l.after + after;
      float scratch;
      const float scale = *as_floats(cpu, args.dtype(2), args.in(2), scale_at, 1, &scratch);
      const int64_t point_at = l.after == 1 ? before * l.point_row + b : scale_at;
      const int point = args.has(3) ? element(args.in(3), point_at, attrs.bits, attrs.is_signed) : fallback;
      // Along the last axis a block's elements are neighbours, else the next element is of another block.
      const int64_t run = l.after == 1 ? std::min({n - i, (b + 1) * attrs.block - q, l.quantized - q}) : 1;
      for (const int64_t end = i + run; i < end; ++i) {
        y[i] = static_cast<float>(element(args.in(0), at + i, attrs.bits, attrs.is_signed) - point) * scale;
      }
    }
  }

  void run(const Args& args, Workers& workers) const {
    const Layout l = layout(args);
    const Shape& data = args.shape(0);
    const int axis = attrs.gather_axis;
    const int64_t size = data[axis], count = args.shape(1).count();
    const int64_t inner = data.count(axis + 1, data.rank()) * attrs.per_byte;
    workers.shards(data.count(0, axis) * count, 1, [&](int64_t begin, int64_t end, int worker) {
      float* scratch = static_cast<float*>(args.workspace()) + worker * inner;
      for (int64_t r = begin; r < end; ++r) {
        int64_t index = args.dtype(1) == DType::i64 ? static_cast<const int64_t*>(args.in(1))[r % count]
                                                    : static_cast<const int32_t*>(args.in(1))[r % count];
        if (index < 0) index += size;
        float* y = float_target(args.out_dtype(0), args.out(0), r * inner, scratch);
        if (index < 0 || index >= size) {
          std::fill_n(y, inner, 0.0f);
        } else {
          dequantize(args, l, (r / count * size + index) * inner, inner, y);
        }
        store_floats(cpu, args.out_dtype(0), y, args.out(0), r * inner, inner);
      }
    });
  }
};

Kernel prepare(const NodeView& node, Prepare& with) {
  Kernel kernel = [op = Gather{with.cpu, Attributes(node)}](const Args& args, Workers& workers) {
    op.run(args, workers);
  };
  kernel.workspace = [a = Attributes(node)](const Args& args, int width) -> int64_t {
    if (args.dtype(2) == DType::f32) return 0;
    return width * args.shape(0).count(a.gather_axis + 1, args.shape(0).rank()) * a.per_byte * 4;
  };
  return kernel;
}

const std::array kOps = {
    OpDef{.domain = "com.microsoft", .name = "GatherBlockQuantized", .infer = infer, .prepare = prepare}};
}  // namespace

std::span<const OpDef> gather_block_quantized() { return kOps; }

}  // namespace nxrt::ops
