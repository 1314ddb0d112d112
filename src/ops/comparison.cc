// Comparisons and logic: Equal, Greater, Less, GreaterOrEqual, LessOrEqual; And, Or, Xor; BitwiseAnd, BitwiseOr,
// BitwiseXor, BitShift.
#include <fmt/format.h>

#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

template <class F, class T, class Y>
BinaryRow row() {
  return [](const void* a, int a_step, const void* b, int b_step, void* y, int64_t n) {
    const T* pa = static_cast<const T*>(a);
    const T* pb = static_cast<const T*>(b);
    for (int64_t i = 0; i < n; ++i) static_cast<Y*>(y)[i] = F()(load(pa[i * a_step]), load(pb[i * b_step]));
  };
}

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct GreaterOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct LessOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};

Dim equal_elements(const Dim& a, const Dim& b) {
  if (same(a, b)) return Dim(1);
  return contradict(a, b) ? Dim(0) : Dim::unknown();
}

template <class F>
std::vector<TensorType> infer_compare(const NodeView& node) {
  node.expect_inputs(2, 2);
  expect_types(node, 0, AnyFixed{});
  node.expect_same_dtype(0, 1);
  TensorType type{DType::boolean, broadcast_inputs(node, 0, 1), {}};
  if constexpr (std::is_same_v<F, Equal>)
    return {with_elements(std::move(type), combine_elements(node, equal_elements))};
  return {std::move(type)};
}

template <class F>
Kernel prepare_compare(const NodeView& node, Prepare&) {
  BinaryRow chosen;
  visit(AnyFixed{}, node.input(0).dtype, [&](auto tag) { chosen = row<F, typename decltype(tag)::type, bool>(); });
  Kernel kernel = binary_kernel(std::move(chosen), node);
  if (node.input(0).dtype != DType::boolean) kernel.in_place = -1;
  return kernel;
}

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
// A shift by the width or more, or by a negative number, leaves nothing but the sign.
template <class T>
bool within_width(T shift) {
  return static_cast<uint64_t>(shift) < sizeof(T) * 8;
}
struct ShiftLeft {
  template <class T>
  T operator()(T a, T b) const {
    return within_width(b) ? static_cast<T>(static_cast<uint64_t>(a) << b) : T{0};
  }
};
struct ShiftRight {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a >> (within_width(b) ? static_cast<int>(b) : static_cast<int>(sizeof(T) * 8 - 1)) >>
                          (within_width(b) ? 0 : 1));
  }
};

template <class Allowed>
std::vector<TensorType> infer_bits(const NodeView& node) {
  node.expect_inputs(2, 2);
  expect_types(node, 0, Allowed{});
  node.expect_same_dtype(0, 1);
  return {{node.input(0).dtype, broadcast_inputs(node, 0, 1), {}}};
}

template <class F, class Allowed>
Kernel prepare_bits(const NodeView& node, Prepare&) {
  BinaryRow chosen;
  visit(Allowed{}, node.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    chosen = row<F, T, T>();
  });
  return binary_kernel(std::move(chosen), node);
}

std::vector<TensorType> infer_shift(const NodeView& node) {
  const std::string direction = node.str("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    node.fail(fmt::format("attribute 'direction' is '{}', expected 'LEFT' or 'RIGHT'", direction));
  }
  return infer_bits<Integers>(node);
}

Kernel prepare_shift(const NodeView& node, Prepare& with) {
  return node.str("direction") == "LEFT" ? prepare_bits<ShiftLeft, Integers>(node, with)
                                         : prepare_bits<ShiftRight, Integers>(node, with);
}

}  // namespace

std::span<const OpDef> comparison() {
  static constexpr OpDef kTable[] = {
      {.name = "Equal", .since = 7, .infer = infer_compare<Equal>, .prepare = prepare_compare<Equal>},
      {.name = "Greater", .since = 7, .infer = infer_compare<Greater>, .prepare = prepare_compare<Greater>},
      {.name = "Less", .since = 7, .infer = infer_compare<Less>, .prepare = prepare_compare<Less>},
      {.name = "GreaterOrEqual",
       .since = 12,
       .infer = infer_compare<GreaterOrEqual>,
       .prepare = prepare_compare<GreaterOrEqual>},
      {.name = "LessOrEqual",
       .since = 12,
       .infer = infer_compare<LessOrEqual>,
       .prepare = prepare_compare<LessOrEqual>},
      {.name = "And", .since = 7, .infer = infer_bits<Bools>, .prepare = prepare_bits<And, Bools>},
      {.name = "Or", .since = 7, .infer = infer_bits<Bools>, .prepare = prepare_bits<Or, Bools>},
      {.name = "Xor", .since = 7, .infer = infer_bits<Bools>, .prepare = prepare_bits<Xor, Bools>},
      {.name = "BitwiseAnd", .since = 18, .infer = infer_bits<Integers>, .prepare = prepare_bits<And, Integers>},
      {.name = "BitwiseOr", .since = 18, .infer = infer_bits<Integers>, .prepare = prepare_bits<Or, Integers>},
      {.name = "BitwiseXor", .since = 18, .infer = infer_bits<Integers>, .prepare = prepare_bits<Xor, Integers>},
      {.name = "BitShift", .since = 11, .infer = infer_shift, .prepare = prepare_shift},
  };
  return kTable;
}

}  // namespace nxrt::ops
