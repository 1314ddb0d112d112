// com.microsoft SkipLayerNormalization and SkipSimplifiedLayerNormalization: s = input + skip (+ bias), then layer
// norm (gamma, beta) or RMS norm (gamma) of s over the last axis. Outputs: y, mean, 1/std, s; all but y optional.
// skip has input's shape, or is one [1, S, H] or [S, H] slice that all batch rows share.
#include <array>
#include <cmath>

#include "ops/op.h"
#include "ops/support/float_rows.h"

namespace nxrt::ops {
namespace {

enum class Norm { layer, rms };

// Positions of the optional inputs; -1: the operator has none.
struct Inputs {
  int beta, bias;
  explicit Inputs(Norm norm) : beta(norm == Norm::layer ? 3 : -1), bias(norm == Norm::layer ? 4 : 3) {}
};

void expect_skip(const NodeView& node) {
  const SymShape &input = node.shape(0), &skip = node.shape(1);
  const int lead = input.rank() - skip.rank();
  bool fits = lead == 0 || (lead == 1 && input.rank() == 3);
  for (int i = 0; fits && i < skip.rank(); ++i) {
    const bool shared_batch = i == 0 && input.rank() == 3 && skip[0] == Dim(1);
    fits = (lead == 0 && shared_batch) || !contradict(skip[i], input[i + lead]);
  }
  if (!fits) node.fail("input 1 (skip) has shape " + skip.text() + ", expected " + input.text());
}

std::vector<TensorType> infer(const NodeView& node, Norm norm) {
  const Inputs at(norm);
  node.expect_inputs(3, at.bias + 1);
  node.expect_dtype(0, kRowDTypes);
  const int rank = node.rank(0);
  if (rank < 2) node.fail("input 0 has rank " + std::to_string(rank) + ", expected 2 or 3");
  expect_skip(node);
  for (int i = 1; i <= at.bias; ++i) {
    if (!node.has_input(i)) continue;
    node.expect_same_dtype(i, 0);
    if (i >= 2) node.expect_shape(i, node.shape(0).suffix(rank - 1));
  }
  SymShape statistic = node.shape(0);
  statistic[rank - 1] = 1;
  const TensorType y = {.dtype = node.input(0).dtype, .shape = node.shape(0)};
  std::vector<TensorType> types = {y, {DType::f32, statistic, {}}, {DType::f32, statistic, {}}, y};
  types.resize(static_cast<size_t>(node.outputs()));
  return types;
}

struct SkipNorm {
  const Kernels& cpu;
  Norm norm;
  float epsilon;

  static int64_t vectors(int width) { return 3 + 3 * width; }  // gamma, beta, bias; then three rows per worker

  void run(const Args& args, Workers& workers) const {
    const Inputs at(norm);
    const int64_t cols = args.shape(0)[args.shape(0).rank() - 1], line = float_bytes(cols) / 4;
    if (cols == 0) return;
    const int64_t rows = args.shape(0).count() / cols;
    float* scratch = args.workspace();
    const auto vector = [&](int i, float* to) {
      return i >= 0 && args.has(i) ? as_floats(cpu, args.dtype(i), args.in(i), 0, cols, to) : nullptr;
    };
    const float* gamma = vector(2, scratch);
    const float* beta = vector(at.beta, scratch + line);
    const float* bias = vector(at.bias, scratch + 2 * line);
    workers.shards(rows, 1, [&](int64_t begin, int64_t end, int worker) {
      float* mine = scratch + (3 + 3 * worker) * line;
      for (int64_t r = begin; r < end; ++r) {
        const float* sum = add_skip(args, bias, r, cols, mine);
        float* y = float_target(args.out_dtype(0), args.out(0), r * cols, mine + line);
        statistics(args, sum, r, cols);
        normalize(sum, gamma, beta, y, cols);
        store_floats(cpu, args.out_dtype(0), y, args.out(0), r * cols, cols);
      }
    });
  }

 private:
  // Row r of input + skip + bias, in output 3 when it is wanted as f32, else in scratch [3, line].
  const float* add_skip(const Args& args, const float* bias, int64_t r, int64_t cols, float* scratch) const {
    const int64_t line = float_bytes(cols) / 4, skip_rows = args.shape(1).count() / cols;
    const auto add = cpu.binary[static_cast<int>(Binary::add)];
    const float* x = as_floats(cpu, args.dtype(0), args.in(0), r * cols, cols, scratch);
    const float* skip = as_floats(cpu, args.dtype(1), args.in(1), r % skip_rows * cols, cols, scratch + line);
    float* sum = args.has_out(3) ? float_target(args.out_dtype(3), args.out(3), r * cols, scratch + 2 * line)
                                 : scratch + 2 * line;
    add(x, 1, skip, 1, sum, cols);
    if (bias) add(sum, 1, bias, 1, sum, cols);
    if (args.has_out(3)) store_floats(cpu, args.out_dtype(3), sum, args.out(3), r * cols, cols);
    return sum;
  }

  void statistics(const Args& args, const float* x, int64_t r, int64_t cols) const {
    if (!args.has_out(1) && !args.has_out(2)) return;
    const float n = static_cast<float>(cols), mean = norm == Norm::layer ? cpu.sum(x, cols) / n : 0.0f;
    float squares = 0.0f;
    for (int64_t i = 0; i < cols; ++i) squares += (x[i] - mean) * (x[i] - mean);
    if (float* out = args.out(1)) out[r] = mean;
    if (float* out = args.out(2)) out[r] = 1.0f / std::sqrt(squares / n + epsilon);
  }

  void normalize(const float* x, const float* gamma, const float* beta, float* y, int64_t cols) const {
    if (norm == Norm::layer) return cpu.layer_norm(x, gamma, beta, y, cols, epsilon);
    cpu.rms_norm(x, gamma, y, cols, epsilon);
  }
};

Kernel prepare(const NodeView& node, Prepare& with, Norm norm) {
  Kernel kernel = [op = SkipNorm{with.cpu, norm, node.f32("epsilon", 1e-12f)}](const Args& args, Workers& workers) {
    op.run(args, workers);
  };
  kernel.workspace = [](const Args& args, int width) {
    return SkipNorm::vectors(width) * float_bytes(args.shape(0)[args.shape(0).rank() - 1]);
  };
  kernel.in_place = 0;
  return kernel;
}

std::vector<TensorType> infer_layer(const NodeView& node) { return infer(node, Norm::layer); }
std::vector<TensorType> infer_rms(const NodeView& node) { return infer(node, Norm::rms); }
Kernel prepare_layer(const NodeView& node, Prepare& with) { return prepare(node, with, Norm::layer); }
Kernel prepare_rms(const NodeView& node, Prepare& with) { return prepare(node, with, Norm::rms); }

constexpr std::string_view kDomain = "com.microsoft";
const std::array kOps = {
    OpDef{.domain = kDomain, .name = "SkipLayerNormalization", .infer = infer_layer, .prepare = prepare_layer},
    OpDef{.domain = kDomain, .name = "SkipSimplifiedLayerNormalization", .infer = infer_rms, .prepare = prepare_rms},
};
}  // namespace

std::span<const OpDef> skip_layer_normalization() { return kOps; }

}  // namespace nxrt::ops
