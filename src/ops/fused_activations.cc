// Activations that exporters and our passes write as one node, computed in f32:
//   com.microsoft Gelu        x · Φ(x)                        com.microsoft FastGelu   tanh form of gelu(x + bias?)
//   com.microsoft BiasGelu    gelu(x + bias)                  com.microsoft QuickGelu  x · sigmoid(alpha · x)
//   nxrt Silu                 x · sigmoid(x)                  nxrt SiluMul             silu(gate) · up
// bias is one row over the last axis.
#include <algorithm>
#include <array>

#include "ops/op.h"
#include "ops/support/float_rows.h"

namespace nxrt::ops {
namespace {

enum class Second { none, bias, optional_bias, same_shape };

// y[i] = f(x[i], second[i]); second is null when the node has none. At most kChunk elements; y may be x.
constexpr int64_t kChunk = 512;
using Body = void (*)(const Kernels& cpu, float alpha, const float* x, const float* second, float* y, int64_t n);

template <Unary f>
void unary_of_sum(const Kernels& cpu, float, const float* x, const float* bias, float* y, int64_t n) {
  if (bias) {
    cpu.binary[static_cast<int>(Binary::add)](x, 1, bias, 1, y, n);
    x = y;
  }
  cpu.unary[static_cast<int>(f)](x, y, n);
}

void quick_gelu(const Kernels& cpu, float alpha, const float* x, const float*, float* y, int64_t n) {
  const auto mul = cpu.binary[static_cast<int>(Binary::mul)];
  float gate[kChunk];
  mul(x, 1, &alpha, 0, gate, n);
  cpu.unary[static_cast<int>(Unary::sigmoid)](gate, gate, n);
  mul(x, 1, gate, 1, y, n);
}

void silu_mul(const Kernels& cpu, float, const float* gate, const float* up, float* y, int64_t n) {
  cpu.silu_mul(gate, up, y, n);
}

template <Second second>
std::vector<TensorType> infer(const NodeView& node) {
  constexpr bool required = second == Second::bias || second == Second::same_shape;
  node.expect_inputs(required ? 2 : 1, second == Second::none ? 1 : 2);
  node.expect_dtype(0, kRowDTypes);
  if (node.has_input(1)) {
    node.expect_same_dtype(1, 0);
    if (node.has_shape(0))
      node.expect_shape(1, node.shape(0).suffix(second == Second::same_shape ? 0 : node.rank(0) - 1));
  }
  return {{.dtype = node.input(0).dtype, .shape = node.input(0).shape}};
}

// Elements of x's rows [cols] in chunks; element i of a row meets second[i] of the same row or of the one bias row.
void run(const Args& args, Workers& workers, const Kernels& cpu, Body body, float alpha, bool bias) {
  const int64_t count = args.shape(0).count();
  const int64_t cols = bias ? args.shape(1).count() : count;
  if (count == 0) return;
  const int64_t chunks = (cols + kChunk - 1) / kChunk;
  workers.each(count / cols * chunks, [&](int64_t unit) {
    float x_scratch[kChunk], second_scratch[kChunk], y_scratch[kChunk];
    const int64_t column = unit % chunks * kChunk, at = unit / chunks * cols + column;
    const int64_t n = std::min(kChunk, cols - column);
    const float* x = as_floats(cpu, args.dtype(0), args.in(0), at, n, x_scratch);
    const float* second =
        args.has(1) ? as_floats(cpu, args.dtype(1), args.in(1), bias ? column : at, n, second_scratch) : nullptr;
    float* y = float_target(args.out_dtype(0), args.out(0), at, y_scratch);
    body(cpu, alpha, x, second, y, n);
    store_floats(cpu, args.out_dtype(0), y, args.out(0), at, n);
  });
}

template <Body body, Second second>
Kernel prepare(const NodeView& node, Prepare& with) {
  const float alpha = node.f32("alpha", 1.702f);
  const bool bias = node.has_input(1) && second != Second::same_shape;
  Kernel kernel = [&cpu = with.cpu, alpha, bias](const Args& args, Workers& workers) {
    run(args, workers, cpu, body, alpha, bias);
  };
  kernel.in_place = 0;
  return kernel;
}

template <Body body, Second second>
constexpr OpDef row(std::string_view domain, std::string_view name) {
  return {.domain = domain, .name = name, .infer = infer<second>, .prepare = prepare<body, second>};
}

const std::array kOps = {
    row<unary_of_sum<Unary::gelu_erf>, Second::none>("com.microsoft", "Gelu"),
    row<unary_of_sum<Unary::gelu_erf>, Second::bias>("com.microsoft", "BiasGelu"),
    row<unary_of_sum<Unary::gelu_tanh>, Second::optional_bias>("com.microsoft", "FastGelu"),
    row<quick_gelu, Second::none>("com.microsoft", "QuickGelu"),
    row<unary_of_sum<Unary::silu>, Second::none>("nxrt", "Silu"),
    row<silu_mul, Second::same_shape>("nxrt", "SiluMul"),
};
}  // namespace

std::span<const OpDef> fused_activations() { return kOps; }

}  // namespace nxrt::ops
