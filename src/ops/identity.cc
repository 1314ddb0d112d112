// Identity, and Dropout as inference has it: the input, with a mask of all true.
#include <cstring>

#include "ops/support/infer.h"
#include "ops/support/runs.h"

namespace nxrt::ops {
namespace {

std::vector<TensorType> infer_identity(const NodeView& node) {
  node.expect_inputs(1, 1);
  return {node.input(0)};
}

std::vector<TensorType> infer_dropout(const NodeView& node) {
  if (node.has_input(2)) {
    const auto training = node.integers(2);
    if (!training || training->at(0) != 0) {
      node.unsupported("training_mode is not known to be false", "export the model for inference");
    }
  }
  const TensorType x = like_input(node)[0];
  return {x, {DType::boolean, x.shape, {}}};
}

Kernel prepare_dropout(const NodeView& node, Prepare&) {
  element_bytes(node, 0);
  Kernel kernel = [](const Args& args, Workers&) {
    const int64_t count = args.shape(0).count(), bytes = bytes_of(args.dtype(0), count);
    void* y = args.out(0);
    const void* x = args.in(0);
    if (y && y != x && bytes > 0) std::memcpy(y, x, static_cast<size_t>(bytes));
    if (args.has_out(1)) std::memset(args.out(1), 1, static_cast<size_t>(count));
  };
  kernel.in_place = 0;
  return kernel;
}

}  // namespace

std::span<const OpDef> identity() {
  static constexpr OpDef kTable[] = {
      {.name = "Identity", .since = 1, .infer = infer_identity, .view = true},
      {.name = "Dropout", .since = 7, .infer = infer_dropout, .prepare = prepare_dropout},
  };
  return kTable;
}

}  // namespace nxrt::ops
