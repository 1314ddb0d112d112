// LayerNormalization, ai.onnx 17: y = (x - mean) / sqrt(var + epsilon) · scale + bias over axes [axis, rank), and
// RMSNormalization, ai.onnx 23: y = x / sqrt(mean(x²) + epsilon) · scale. Outputs 1 and 2 of the former are mean and
// 1 / sqrt(var + epsilon) of each row.
#include <cmath>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

struct Attributes {
  bool centered;
  int axis;
  float epsilon;
  explicit Attributes(const NodeView& node)
      : centered(node.node().op == "LayerNormalization"),
        axis(node.axis("axis", -1, node.rank(0))),
        epsilon(node.f32("epsilon", 1e-5f)) {}
};

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 3);
  expect_types(node, 0, Floats{});
  const Attributes attrs(node);
  const SymShape& x = node.shape(0);
  for (int i = 1; i < node.inputs(); ++i) {
    if (!node.has_input(i)) continue;
    expect_types(node, i, Floats{});
    if (!node.has_shape(i)) continue;
    const SymShape both = broadcast(node, x, node.shape(i));
    if (both.rank() != x.rank()) node.expect_shape(i, x.suffix(attrs.axis));
  }
  std::vector<Dim> dims = x.dims();
  for (size_t d = static_cast<size_t>(attrs.axis); d < dims.size(); ++d) dims[d] = 1;
  const DType statistics = node.i64("stash_type", 1) == 1 ? DType::f32 : node.input(0).dtype;
  const TensorType row{statistics, SymShape(dims), {}};
  return {{node.input(1).dtype == DType::none || attrs.centered ? node.input(0).dtype : node.input(1).dtype, x, {}},
          row,
          row};
}

// scale and bias of one row: both may broadcast over leading axes of the row, so they are walked as runs.
struct Row {
  double mean = 0, inverse = 0;
};

template <class T>
Row statistics(const T* x, int64_t n, const Attributes& attrs) {
  Row row;
  if (attrs.centered) {
    for (int64_t i = 0; i < n; ++i) row.mean += static_cast<double>(load(x[i]));
    row.mean /= static_cast<double>(n);
  }
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double centered = static_cast<double>(load(x[i])) - row.mean;
    squares += centered * centered;
  }
  row.inverse = 1.0 / std::sqrt(squares / static_cast<double>(n) + static_cast<double>(attrs.epsilon));
  return row;
}

// Element i of input `input`, broadcast to x's shape.
template <class T>
double parameter(const Args& args, int input, int64_t i) {
  const Shape &x = args.shape(0), &own = args.shape(input);
  int64_t index = 0, stride = 1;
  for (int d = x.rank() - 1, o = own.rank() - 1; o >= 0; --d, --o) {
    if (own[o] != 1) index += i % x[d] * stride;
    i /= x[d];
    stride *= own[o];
  }
  return static_cast<double>(load(static_cast<const T*>(args.in(input))[index]));
}

template <class T, class Scale>
void normalize(const Args& args, Workers& workers, const Attributes& attrs) {
  const Shape& shape = args.shape(0);
  const int64_t cols = shape.count(attrs.axis, shape.rank());
  const T* x = args.in(0);
  workers.each(shape.count(0, attrs.axis), [&](int64_t r) {
    const Row row = statistics(x + r * cols, cols, attrs);
    for (int64_t i = r * cols; i < (r + 1) * cols; ++i) {
      double y = (static_cast<double>(load(x[i])) - row.mean) * row.inverse * parameter<Scale>(args, 1, i);
      if (args.has(2)) y += parameter<Scale>(args, 2, i);
      if (attrs.centered) {
        static_cast<T*>(args.out(0))[i] = store<T>(static_cast<Computed<T>>(y));
      } else {
        static_cast<Scale*>(args.out(0))[i] = store<Scale>(static_cast<Computed<Scale>>(y));
      }
    }
    for (const auto& [output, value] : {std::pair{1, row.mean}, {2, row.inverse}}) {
      if (!args.has_out(output)) continue;
      visit(Floats{}, args.out_dtype(output), [&](auto tag) {
        using S = typename decltype(tag)::type;
        static_cast<S*>(args.out(output))[r] = store<S>(static_cast<Computed<S>>(value));
      });
    }
  });
}

// Float rows whose scale is one row: what models have.
Kernel float_rows(const Attributes& attrs, const Kernels& cpu) {
  return [attrs, &cpu](const Args& args, Workers& workers) {
    const Shape& shape = args.shape(0);
    const int64_t cols = shape.count(attrs.axis, shape.rank());
    if (args.shape(1).count() != cols || (args.has(2) && args.shape(2).count() != cols) || args.has_out(1) ||
        args.has_out(2)) {
      return normalize<float, float>(args, workers, attrs);
    }
    const float *x = args.in(0), *scale = args.in(1), *bias = args.in(2);
    float* y = args.out(0);
    workers.shards(shape.count(0, attrs.axis), kElementsPerShard / (cols + 1) + 1,
                   [&](int64_t begin, int64_t end, int) {
                     for (int64_t r = begin; r < end; ++r) {
                       const float* in = x + r * cols;
                       if (attrs.centered) {
                         cpu.layer_norm(in, scale, bias, y + r * cols, cols, attrs.epsilon);
                       } else {
                         cpu.rms_norm(in, scale, y + r * cols, cols, attrs.epsilon);
                       }
                     }
                   });
  };
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const Attributes attrs(node);
  const DType x = node.input(0).dtype, scale = node.input(1).dtype;
  if (x == DType::f32 && scale == DType::f32) return float_rows(attrs, with.cpu);
  Kernel kernel;
  visit(Floats{}, x, [&](auto a) {
    visit(Floats{}, scale, [&](auto b) {
      kernel = [attrs](const Args& args, Workers& workers) {
        normalize<typename decltype(a)::type, typename decltype(b)::type>(args, workers, attrs);
      };
    });
  });
  return kernel;
}

}  // namespace

std::span<const OpDef> layer_normalization() {
  static constexpr OpDef kTable[] = {
      {.name = "LayerNormalization", .since = 17, .infer = infer, .prepare = prepare},
      {.name = "RMSNormalization", .since = 23, .infer = infer, .prepare = prepare},
  };
  return kTable;
}

}  // namespace nxrt::ops
