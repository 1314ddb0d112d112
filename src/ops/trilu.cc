// Trilu, ai.onnx 14: keeps the upper or lower triangle of the last two axes, zeros elsewhere. EyeLike, ai.onnx 9: ones
// on the k-th diagonal.
#include <algorithm>
#include <cstring>

#include "ops/support/infer.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

std::vector<TensorType> infer_trilu(const NodeView& node) {
  node.expect_inputs(1, 2);
  element_bytes(node, 0);
  if (node.has_shape(0) && node.rank(0) < 2)
    node.fail("input 0 has shape " + node.shape(0).text() + ", expected a matrix");
  if (node.has_input(1)) node.expect_dtype(1, DType::i64);
  return like_input(node);
}

Kernel prepare_trilu(const NodeView& node, Prepare&) {
  const bool upper = node.i64("upper", 1) != 0;
  return [upper, size = element_bytes(node, 0)](const Args& args, Workers& workers) {
    const Shape& shape = args.shape(0);
    const int64_t rows = shape[shape.rank() - 2], cols = shape[shape.rank() - 1];
    const int64_t diagonal = args.has(1) ? std::clamp(index_at(args, 1, 0), -rows, cols) : 0;
    const std::byte* x = args.in(0);
    std::byte* y = args.out(0);
    if (shape.count() == 0) return;
    workers.each(shape.count() / cols, [&](int64_t row) {
      // Columns [begin, end) are kept.
      const int64_t edge = std::clamp<int64_t>(row % rows + diagonal + (upper ? 0 : 1), 0, cols);
      const int64_t begin = upper ? edge : 0, end = upper ? cols : edge;
      std::byte* to = y + row * cols * size;
      std::memset(to, 0, static_cast<size_t>(cols * size));
      std::memcpy(to + begin * size, x + (row * cols + begin) * size, static_cast<size_t>((end - begin) * size));
    });
  };
}

DType eye_dtype(const NodeView& node) {
  if (!node.has("dtype")) return node.input(0).dtype;
  const int64_t dtype = node.i64("dtype");
  if (dtype < 1 || dtype >= kDTypeCount)
    node.fail("attribute 'dtype' is " + std::to_string(dtype) + ", which is no element type");
  return static_cast<DType>(dtype);
}

std::vector<TensorType> infer_eye(const NodeView& node) {
  node.expect_inputs(1, 1);
  node.expect_rank(0, 2);
  const DType dtype = eye_dtype(node);
  if (!visit(AnyFixed{}, dtype, [](auto) {})) node.unsupported("a matrix of " + std::string(name_of(dtype)));
  return {{dtype, node.input(0).shape, {}}};
}

Kernel prepare_eye(const NodeView& node, Prepare&) {
  return [k = node.i64("k", 0)](const Args& args, Workers&) {
    const int64_t rows = args.out_shape(0)[0], cols = args.out_shape(0)[1];
    visit(AnyFixed{}, args.out_dtype(0), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = args.out(0);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) y[r * cols + c] = store<T>(static_cast<Computed<T>>(c - r == k));
      }
    });
  };
}

}  // namespace

std::span<const OpDef> trilu() {
  static constexpr OpDef kTable[] = {
      {.name = "Trilu", .since = 14, .infer = infer_trilu, .prepare = prepare_trilu},
      {.name = "EyeLike", .since = 9, .infer = infer_eye, .prepare = prepare_eye},
  };
  return kTable;
}

}  // namespace nxrt::ops
