// Add, Sub, Mul, Div, Min, Max, Sum, Mean, Mod, PRelu with numpy broadcasting. Integers wrap; an integer division by
// zero is 0.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

template <class T>
T wrap(uint64_t x) {
  return static_cast<T>(x);
}

struct Add {
  static constexpr std::optional<Binary> kKernel = Binary::add;
  static Dim symbolic(const Dim& a, const Dim& b) { return a + b; }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return wrap<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    return static_cast<T>(a + b);
  }
};
struct Sub {
  static constexpr std::optional<Binary> kKernel = Binary::sub;
  static Dim symbolic(const Dim& a, const Dim& b) { return a - b; }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return wrap<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    return static_cast<T>(a - b);
  }
};
struct Mul {
  static constexpr std::optional<Binary> kKernel = Binary::mul;
  static Dim symbolic(const Dim& a, const Dim& b) { return a * b; }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return wrap<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    return static_cast<T>(a * b);
  }
};
struct Div {
  static constexpr std::optional<Binary> kKernel = Binary::div;
  static Dim symbolic(const Dim& a, const Dim& b) {
    const auto x = a.constant(), y = b.constant();
    if (x && y) return Dim(Div()(*x, *y));
    return exact_quotient(a, b);
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return wrap<T>(uint64_t{0} - static_cast<uint64_t>(a));  // INT_MIN / -1 would trap
      }
    }
    return static_cast<T>(a / b);
  }
};

std::optional<Dim> larger(const Dim& a, const Dim& b) {
  if (surely_nonnegative(a - b)) return a;
  if (surely_nonnegative(b - a)) return b;
  return std::nullopt;
}

struct Min {
  static constexpr std::optional<Binary> kKernel = Binary::min;
  static Dim symbolic(const Dim& a, const Dim& b) {
    const auto most = larger(a, b);
    return most ? (same(*most, a) ? b : a) : Dim::unknown();
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
    }
    return b < a ? b : a;
  }
};
struct Max {
  static constexpr std::optional<Binary> kKernel = Binary::max;
  static Dim symbolic(const Dim& a, const Dim& b) { return larger(a, b).value_or(Dim::unknown()); }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
    }
    return a < b ? b : a;
  }
};
struct PRelu {
  static constexpr std::optional<Binary> kKernel = {};
  static Dim symbolic(const Dim&, const Dim&) { return Dim::unknown(); }
  template <class T>
  T operator()(T x, T slope) const {
    return x < T{0} ? Mul()(x, slope) : x;
  }
};
// The result has the divisor's sign, as in Python.
struct Mod {
  static constexpr std::optional<Binary> kKernel = {};
  static Dim symbolic(const Dim& a, const Dim& b) {
    const auto x = a.constant(), y = b.constant();
    return x && y ? Dim(Mod()(*x, *y)) : Dim::unknown();
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      const T rest = static_cast<T>(a % b);
      if constexpr (std::is_signed_v<T>) {
        if (rest != 0 && (rest < 0) != (b < 0)) return static_cast<T>(rest + b);
      }
      return rest;
    } else {
      const T rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
  }
};
// The result has the dividend's sign, as C's fmod.
struct FMod {
  static constexpr std::optional<Binary> kKernel = {};
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

template <class F, class T>
BinaryRow defined() {
  return [](const void* a, int a_step, const void* b, int b_step, void* y, int64_t n) {
    const T* pa = static_cast<const T*>(a);
    const T* pb = static_cast<const T*>(b);
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(y)[i] = store<T>(F()(load(pa[i * a_step]), load(pb[i * b_step])));
  };
}

template <class F>
BinaryRow row_for(DType dtype, const Kernels& cpu) {
  if constexpr (F::kKernel.has_value()) {
    if (dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16) {
      BinaryRow row = [kernel = cpu.binary[static_cast<int>(*F::kKernel)]](const void* a, int a_step, const void* b,
                                                                           int b_step, void* y, int64_t n) {
        kernel(static_cast<const float*>(a), a_step, static_cast<const float*>(b), b_step, static_cast<float*>(y), n);
      };
      return dtype == DType::f32 ? row : through_float(std::move(row), dtype, cpu);
    }
  }
  BinaryRow row;
  visit(Numbers{}, dtype, [&](auto tag) { row = defined<F, typename decltype(tag)::type>(); });
  return row;
}

template <class F>
std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 2);
  expect_types(node, 0, Numbers{});
  node.expect_same_dtype(0, 1);
  TensorType type{node.input(0).dtype, broadcast_inputs(node, 0, 1), {}};
  return {with_elements(std::move(type), combine_elements(node, F::symbolic))};
}

template <class F>
Kernel prepare(const NodeView& node, Prepare& with) {
  return binary_kernel(row_for<F>(node.input(0).dtype, with.cpu), node);
}

Kernel prepare_mod(const NodeView& node, Prepare& with) {
  if (node.i64("fmod", 0) == 0) return prepare<Mod>(node, with);
  return binary_kernel(row_for<FMod>(node.input(0).dtype, with.cpu), node);
}

std::vector<TensorType> infer_mod(const NodeView& node) {
  if (node.i64("fmod", 0) == 0) return infer<Mod>(node);
  auto types = infer<Mod>(node);
  types[0].elements.reset();
  return types;
}

// Any number of inputs: the first is broadcast into the output, the others are folded in.
std::vector<TensorType> infer_many(const NodeView& node) {
  expect_types(node, 0, Numbers{});
  std::optional<SymShape> shape = node.input(0).shape;
  for (int i = 1; i < node.inputs(); ++i) {
    node.expect_same_dtype(0, i);
    if (shape) shape = node.has_shape(i) ? std::optional(broadcast(node, *shape, node.shape(i))) : std::nullopt;
  }
  return {{node.input(0).dtype, shape, {}}};
}

template <class F>
std::vector<TensorType> infer_variadic(const NodeView& node) {
  return node.inputs() == 2 ? infer<F>(node) : infer_many(node);
}

std::vector<TensorType> infer_mean(const NodeView& node) {
  expect_types(node, 0, Floats{});
  return infer_many(node);
}

void fold(const Args& args, Workers& workers, int input, const BinaryRow& row) {
  const int64_t size = bits_of(args.out_dtype(0)) / 8;
  const std::byte* x = args.in(input);
  std::byte* y = args.out(0);
  const Runs runs = plan_runs(args.out_shape(0), {&args.shape(input)});
  each_run(runs, workers, [&](const auto& at, int64_t out, int64_t n) {
    std::byte* target = y + out * size;
    row(target, 1, x + at[0] * size, runs.step[0], target, n);
  });
}

template <class T>
void divide_all(const Args& args, int64_t by) {
  T* y = args.out(0);
  for (int64_t i = 0; i < args.out_shape(0).count(); ++i) {
    y[i] = store<T>(static_cast<Computed<T>>(load(y[i]) / static_cast<Computed<T>>(by)));
  }
}

template <class F>
Kernel prepare_variadic(const NodeView& node, Prepare& with) {
  const bool mean = node.node().op == "Mean";
  const DType dtype = node.input(0).dtype;
  BinaryRow first;  // copies its second operand
  visit(Numbers{}, dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    first = [](const void*, int, const void* x, int step, void* y, int64_t n) {
      for (int64_t i = 0; i < n; ++i) static_cast<T*>(y)[i] = static_cast<const T*>(x)[i * step];
    };
  });
  return [first, mean, row = row_for<F>(dtype, with.cpu)](const Args& args, Workers& workers) {
    const int count = static_cast<int>(args.in_slots.size());
    for (int i = 0; i < count; ++i) fold(args, workers, i, i == 0 ? first : row);
    if (mean) {
      visit(Floats{}, args.out_dtype(0), [&](auto tag) { divide_all<typename decltype(tag)::type>(args, count); });
    }
  };
}

template <class F>
Kernel prepare_two_or_more(const NodeView& node, Prepare& with) {
  return node.inputs() == 2 ? prepare<F>(node, with) : prepare_variadic<F>(node, with);
}

}  // namespace

std::span<const OpDef> arithmetic() {
  static constexpr OpDef kTable[] = {
      {.name = "Add", .since = 7, .infer = infer<Add>, .prepare = prepare<Add>},
      {.name = "Sub", .since = 7, .infer = infer<Sub>, .prepare = prepare<Sub>},
      {.name = "Mul", .since = 7, .infer = infer<Mul>, .prepare = prepare<Mul>},
      {.name = "Div", .since = 7, .infer = infer<Div>, .prepare = prepare<Div>},
      {.name = "Mod", .since = 10, .infer = infer_mod, .prepare = prepare_mod},
      {.name = "PRelu", .since = 7, .infer = infer<PRelu>, .prepare = prepare<PRelu>},
      {.name = "Min", .since = 8, .infer = infer_variadic<Min>, .prepare = prepare_two_or_more<Min>},
      {.name = "Max", .since = 8, .infer = infer_variadic<Max>, .prepare = prepare_two_or_more<Max>},
      {.name = "Sum", .since = 8, .infer = infer_variadic<Add>, .prepare = prepare_two_or_more<Add>},
      {.name = "Mean", .since = 8, .infer = infer_mean, .prepare = prepare_variadic<Add>},
  };
  return kTable;
}

}  // namespace nxrt::ops
