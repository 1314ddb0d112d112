// Softmax and LogSoftmax. From ai.onnx 13 on along one axis; before, over all dims from `axis` on taken together.
#include <cmath>
#include <limits>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

struct Attributes {
  bool log, together;
  int axis;
  explicit Attributes(const NodeView& node)
      : log(node.node().op == "LogSoftmax"),
        together(node.node().opset != 0 && node.node().opset < 13),
        axis(node.axis("axis", together ? 1 : -1, std::max(1, node.rank(0)))) {}
};

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(1, 1);
  expect_types(node, 0, Floats{});
  if (node.has_shape(0)) Attributes{node};
  return like_input(node);
}

// One line of n elements, `stride` apart. Sums in double: any length, any type.
template <class T>
void one_line(const T* x, T* y, int64_t n, int64_t stride, bool log) {
  double max = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < n; ++i) max = std::fmax(max, static_cast<double>(load(x[i * stride])));
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(load(x[i * stride])) - max);
  for (int64_t i = 0; i < n; ++i) {
    const double shifted = static_cast<double>(load(x[i * stride])) - max;
    y[i * stride] = store<T>(static_cast<Computed<T>>(log ? shifted - std::log(sum) : std::exp(shifted) / sum));
  }
}

struct Lines {
  int64_t outer, n, inner;
  Lines(const Shape& shape, const Attributes& attrs) {
    const int axis = std::min(attrs.axis, shape.rank());
    outer = shape.count(0, axis);
    n = attrs.together ? shape.count(axis, shape.rank()) : axis < shape.rank() ? shape[axis] : 1;
    inner = attrs.together || axis >= shape.rank() ? 1 : shape.count(axis + 1, shape.rank());
  }
};

template <class T>
Kernel defined(const Attributes& attrs) {
  return [attrs](const Args& args, Workers& workers) {
    const Lines lines(args.shape(0), attrs);
    const T* x = args.in(0);
    T* y = args.out(0);
    workers.shards(lines.outer * lines.inner, kElementsPerShard / (lines.n + 1) + 1,
                   [&](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i) {
                       const int64_t at = i / lines.inner * lines.n * lines.inner + i % lines.inner;
                       one_line(x + at, y + at, lines.n, lines.inner, attrs.log);
                     }
                   });
  };
}

Kernel float_rows(const Attributes& attrs, const Kernels& cpu) {
  return [attrs, softmax = cpu.softmax](const Args& args, Workers& workers) {
    const Lines lines(args.shape(0), attrs);
    const float* x = args.in(0);
    float* y = args.out(0);
    workers.shards(lines.outer, kElementsPerShard / 4 / (lines.n + 1) + 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) softmax(x + r * lines.n, y + r * lines.n, lines.n);
    });
  };
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const Attributes attrs(node);
  const bool rows = attrs.together || attrs.axis == node.rank(0) - 1;
  Kernel kernel;
  if (node.input(0).dtype == DType::f32 && rows && !attrs.log) {
    kernel = float_rows(attrs, with.cpu);
  } else {
    visit(Floats{}, node.input(0).dtype, [&](auto tag) { kernel = defined<typename decltype(tag)::type>(attrs); });
  }
  kernel.in_place = 0;
  return kernel;
}

}  // namespace

std::span<const OpDef> softmax() {
  static constexpr OpDef kTable[] = {
      {.name = "Softmax", .since = 1, .infer = infer, .prepare = prepare},
      {.name = "LogSoftmax", .since = 1, .infer = infer, .prepare = prepare},
  };
  return kTable;
}

}  // namespace nxrt::ops
