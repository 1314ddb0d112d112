// Unary operators that integers have too (Abs, Neg, Sign, Relu, BitwiseNot, Not), and the tests that answer in bool.
#include <cmath>
#include <limits>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

using Signed = decltype(Floats{} + Types<int8_t, int16_t, int32_t, int64_t>{});

// Integers wrap as the hardware does: -INT_MIN is INT_MIN.
template <class T>
T negated(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  } else {
    return -x;
  }
}

struct Abs {
  using Allowed = Numbers;
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else if constexpr (std::is_unsigned_v<T>) {
      return x;
    } else {
      return x < 0 ? negated(x) : x;
    }
  }
};
struct Neg {
  using Allowed = Signed;
  template <class T>
  T operator()(T x) const {
    return negated(x);
  }
};
struct Sign {
  using Allowed = Numbers;
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x)) return x;
    }
    return static_cast<T>((x > T{0}) - (x < T{0}));
  }
};
struct Relu {
  using Allowed = Signed;
  template <class T>
  T operator()(T x) const {
    return x < T{0} ? T{0} : x;
  }  // NaN stays NaN
};
struct BitwiseNot {
  using Allowed = Integers;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};
struct Not {
  using Allowed = Bools;
  bool operator()(bool x) const { return !x; }
};

template <class F>
std::vector<TensorType> infer(const NodeView& node) {
  expect_types(node, 0, typename F::Allowed{});
  if constexpr (std::is_same_v<F, Neg>) {
    auto elements = node.elements(0);
    if (elements) {
      for (Dim& e : *elements) e = Dim(0) - e;
    }
    return {with_elements(node.input(0), std::move(elements))};
  }
  return like_input(node);
}

template <class F, class T>
UnaryRow row() {
  return [](const void* x, void* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(y)[i] = store<T>(F()(load(static_cast<const T*>(x)[i])));
  };
}

template <class F>
Kernel prepare(const NodeView& node, Prepare&) {
  UnaryRow chosen;
  visit(typename F::Allowed{}, node.input(0).dtype, [&](auto tag) { chosen = row<F, typename decltype(tag)::type>(); });
  Kernel kernel = unary_kernel(std::move(chosen));
  kernel.in_place = 0;
  return kernel;
}

std::vector<TensorType> infer_test(const NodeView& node) {
  expect_types(node, 0, Floats{});
  return {{DType::boolean, node.input(0).shape, {}}};
}

template <class Test>
Kernel test_kernel(const NodeView& node, Test test) {
  UnaryRow chosen;
  visit(Floats{}, node.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    chosen = [test](const void* x, void* y, int64_t n) {
      for (int64_t i = 0; i < n; ++i) static_cast<bool*>(y)[i] = test(load(static_cast<const T*>(x)[i]));
    };
  });
  return unary_kernel(std::move(chosen));
}

Kernel prepare_is_nan(const NodeView& node, Prepare&) {
  return test_kernel(node, [](auto x) { return std::isnan(x); });
}

Kernel prepare_is_inf(const NodeView& node, Prepare&) {
  const bool positive = node.i64("detect_positive", 1) != 0, negative = node.i64("detect_negative", 1) != 0;
  return test_kernel(node, [=](auto x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

}  // namespace

std::span<const OpDef> numeric_unary() {
  static constexpr OpDef kTable[] = {
      {.name = "Abs", .since = 1, .infer = infer<Abs>, .prepare = prepare<Abs>},
      {.name = "Neg", .since = 1, .infer = infer<Neg>, .prepare = prepare<Neg>},
      {.name = "Sign", .since = 9, .infer = infer<Sign>, .prepare = prepare<Sign>},
      {.name = "Relu", .since = 1, .infer = infer<Relu>, .prepare = prepare<Relu>},
      {.name = "BitwiseNot", .since = 18, .infer = infer<BitwiseNot>, .prepare = prepare<BitwiseNot>},
      {.name = "Not", .since = 1, .infer = infer<Not>, .prepare = prepare<Not>},
      {.name = "IsNaN", .since = 9, .infer = infer_test, .prepare = prepare_is_nan},
      {.name = "IsInf", .since = 10, .infer = infer_test, .prepare = prepare_is_inf},
  };
  return kTable;
}

}  // namespace nxrt::ops
