// Cast and CastLike between all fixed-size numbers and bool. To an integer: truncated, out of range and NaN by wrapping
// through int64 (the standard leaves it open); to bool: x != 0.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

DType target_of(const NodeView& node) {
  if (node.node().op == "CastLike") return node.input(1).dtype;
  const int64_t to = node.i64("to");
  if (to < 1 || to >= kDTypeCount) node.fail(fmt::format("attribute 'to' is {}, which is no element type", to));
  return static_cast<DType>(to);
}

bool castable(DType dtype) {
  return visit(AnyFixed{}, dtype, [](auto) {});
}

std::vector<TensorType> infer(const NodeView& node) {
  const DType from = node.input(0).dtype, to = target_of(node);
  if (from != DType::none && to != DType::none && from != to && (!castable(from) || !castable(to))) {
    node.unsupported(fmt::format("a cast from {} to {}", name_of(from), name_of(to)));
  }
  TensorType type{to, node.input(0).shape, {}};
  if (to == DType::i64 || (to == DType::i32 && is_integer(from))) {
    return {with_elements(std::move(type), node.elements(0))};
  }
  return {std::move(type)};
}

// A float beyond int64 has no defined integer; a fixed answer beats a trap.
int64_t truncated(double x) {
  if (!(x > -9223372036854775808.0 && x < 9223372036854775808.0)) return INT64_MIN;
  return static_cast<int64_t>(x);
}

template <class From, class To>
To converted(From stored) {
  const Computed<From> x = load(stored);
  if constexpr (std::is_same_v<To, bool>) {
    return x != Computed<From>{0};
  } else if constexpr (is_half<To>) {
    return store<To>(static_cast<float>(x));
  } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<Computed<From>>) {
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (x >= 9223372036854775808.0 && x < 18446744073709551616.0) return static_cast<uint64_t>(x);
    }
    return static_cast<To>(truncated(static_cast<double>(x)));
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void cast_row(const void* x, void* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<To*>(y)[i] = converted<From, To>(static_cast<const From*>(x)[i]);
}

UnaryRow fast_row(DType from, DType to, const Kernels& cpu) {
  const auto row = [](auto* kernel, auto* in, auto* out) {
    return [kernel, in, out](const void* x, void* y, int64_t n) {
      kernel(static_cast<decltype(in)>(x), static_cast<decltype(out)>(y), n);
    };
  };
  const float* const in = nullptr;
  float* const out = nullptr;
  const Half* const half_in = nullptr;
  Half* const half_out = nullptr;
  const BFloat16* const bf_in = nullptr;
  BFloat16* const bf_out = nullptr;
  if (from == DType::f16 && to == DType::f32) return row(cpu.half_to_float, half_in, out);
  if (from == DType::f32 && to == DType::f16) return row(cpu.float_to_half, in, half_out);
  if (from == DType::bf16 && to == DType::f32) return row(cpu.bfloat16_to_float, bf_in, out);
  if (from == DType::f32 && to == DType::bf16) return row(cpu.float_to_bfloat16, in, bf_out);
  return nullptr;
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const DType from = node.input(0).dtype, to = target_of(node);
  if (from == to) {
    return [](const Args& args, Workers&) {
      const int64_t bytes = bytes_of(args.dtype(0), args.shape(0).count());
      if (bytes > 0) std::memcpy(args.out(0), args.in(0), static_cast<size_t>(bytes));
    };
  }
  UnaryRow row = fast_row(from, to, with.cpu);
  if (!row) {
    visit(AnyFixed{}, from, [&](auto f) {
      visit(AnyFixed{}, to, [&](auto t) { row = cast_row<typename decltype(f)::type, typename decltype(t)::type>; });
    });
  }
  return unary_kernel(std::move(row));
}

}  // namespace

std::span<const OpDef> cast() {
  static constexpr OpDef kTable[] = {
      {.name = "Cast", .since = 6, .infer = infer, .prepare = prepare},
      {.name = "CastLike", .since = 15, .infer = infer, .prepare = prepare},
  };
  return kTable;
}

}  // namespace nxrt::ops
