// SimplifiedLayerNormalization (ONNX Runtime keeps it in the default domain, exporters also write com.microsoft):
// y = x / sqrt(mean(x²) + epsilon) · scale over axes [axis, rank); y has the type of scale.
// Output 1, when asked for, is 1 / sqrt(mean(x²) + epsilon).
#include <array>
#include <cmath>

#include "ops/op.h"
#include "ops/support/float_rows.h"

namespace nxrt::ops {
namespace {

struct Attributes {
  int axis;
  float epsilon;
  explicit Attributes(const NodeView& node)
      : axis(node.axis("axis", -1, node.rank(0))), epsilon(node.f32("epsilon", 1e-5f)) {}
};

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 2);
  node.expect_dtype(0, kRowDTypes);
  node.expect_dtype(1, kRowDTypes);
  const int axis = Attributes(node).axis;
  node.expect_shape(1, node.shape(0).suffix(axis));
  std::vector<TensorType> types = {{.dtype = node.input(1).dtype, .shape = node.shape(0)}};
  if (node.outputs() > 1) {
    SymShape statistic = node.shape(0);
    for (int i = axis; i < statistic.rank(); ++i) statistic[i] = 1;
    types.push_back({.dtype = DType::f32, .shape = statistic});
  }
  return types;
}

Kernel prepare(const NodeView& node, Prepare& with) {
  Kernel kernel = [attrs = Attributes(node), &cpu = with.cpu](const Args& args, Workers& workers) {
    const Shape& shape = args.shape(0);
    const int64_t rows = shape.count(0, attrs.axis), cols = shape.count(attrs.axis, shape.rank());
    const int64_t line = float_bytes(cols) / 4;
    float* scratch = args.workspace();  // [1 + 2·width, line]
    const float* scale = as_floats(cpu, args.dtype(1), args.in(1), 0, cols, scratch);
    float* inverse = args.out(1);
    workers.shards(rows, 1, [&](int64_t begin, int64_t end, int worker) {
      float* mine = scratch + (1 + 2 * worker) * line;
      for (int64_t r = begin; r < end; ++r) {
        const float* x = as_floats(cpu, args.dtype(0), args.in(0), r * cols, cols, mine);
        float* y = float_target(args.out_dtype(0), args.out(0), r * cols, mine + line);
        if (inverse) {
          inverse[r] = 1.0f / std::sqrt(cpu.dot(x, x, cols) / static_cast<float>(cols) + attrs.epsilon);
        }
        cpu.rms_norm(x, scale, y, cols, attrs.epsilon);
        store_floats(cpu, args.out_dtype(0), y, args.out(0), r * cols, cols);
      }
    });
  };
  kernel.workspace = [axis = Attributes(node).axis](const Args& args, int width) {
    return (1 + 2 * width) * float_bytes(args.shape(0).count(axis, args.shape(0).rank()));
  };
  kernel.in_place = 0;
  return kernel;
}

const std::array kOps = {
    OpDef{.domain = "", .name = "SimplifiedLayerNormalization", .infer = infer, .prepare = prepare},
    OpDef{.domain = "com.microsoft", .name = "SimplifiedLayerNormalization", .infer = infer, .prepare = prepare},
};
}  // namespace

std::span<const OpDef> simplified_layer_normalization() { return kOps; }

}  // namespace nxrt::ops
