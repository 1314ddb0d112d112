// Pow, ai.onnx 7, 12, 13, 15: z = x^y with x's type; the exponent may have another type.
#include <cmath>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

using Bases = decltype(Floats{} + Types<int32_t, int64_t>{});

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 2);
  expect_types(node, 0, Bases{});
  expect_types(node, 1, Numbers{});
  return {{node.input(0).dtype, broadcast_inputs(node, 0, 1), {}}};
}

// Integers to an integer power, exactly (modulo 2^64); a negative power truncates towards zero.
int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}

template <class X, class Y>
Computed<X> power(X x, Y y) {
  if constexpr (std::is_integral_v<X> && std::is_integral_v<Y>) {
    return static_cast<X>(integer_power(x, static_cast<int64_t>(y)));
  } else if constexpr (std::is_integral_v<X>) {
    const double z = std::pow(static_cast<double>(x), static_cast<double>(load(y)));
    return std::abs(z) < 9.2e18 ? static_cast<X>(static_cast<int64_t>(z)) : X{0};
  } else {
    return static_cast<Computed<X>>(std::pow(static_cast<double>(load(x)), static_cast<double>(load(y))));
  }
}

template <class X, class Y>
BinaryRow defined() {
  return [](const void* x, int x_step, const void* y, int y_step, void* z, int64_t n) {
    const X* px = static_cast<const X*>(x);
    const Y* py = static_cast<const Y*>(y);
    for (int64_t i = 0; i < n; ++i) static_cast<X*>(z)[i] = store<X>(power(px[i * x_step], py[i * y_step]));
  };
}

// Squares are what exported norms and GELUs use.
BinaryRow float_row(const Kernels& cpu) {
  return [pow = cpu.binary[static_cast<int>(Binary::pow)], mul = cpu.binary[static_cast<int>(Binary::mul)]](
             const void* x, int x_step, const void* y, int y_step, void* z, int64_t n) {
    const float* px = static_cast<const float*>(x);
    const float* py = static_cast<const float*>(y);
    if (n > 0 && y_step == 0 && *py == 2.0f) return mul(px, x_step, px, x_step, static_cast<float*>(z), n);
    pow(px, x_step, py, y_step, static_cast<float*>(z), n);
  };
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const DType x = node.input(0).dtype, y = node.input(1).dtype;
  if (x == DType::f32 && y == DType::f32) return binary_kernel(float_row(with.cpu), node);
  if (x == y && (x == DType::f16 || x == DType::bf16)) {
    return binary_kernel(through_float(float_row(with.cpu), x, with.cpu), node);
  }
  BinaryRow row;
  visit(Bases{}, x, [&](auto base) {
    visit(Numbers{}, y,
          [&](auto exponent) { row = defined<typename decltype(base)::type, typename decltype(exponent)::type>(); });
  });
  return binary_kernel(std::move(row), node);
}

}  // namespace

std::span<const OpDef> pow() {
  static constexpr OpDef kTable[] = {{.name = "Pow", .since = 7, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
