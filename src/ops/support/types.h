// From a run-time DType to a C++ type, and arithmetic on stored types: half types compute in float.
//
//   visit(Floats{}, dtype, [&](auto tag) { using T = typename decltype(tag)::type; … });
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "base/half.h"
#include "ops/op.h"

namespace nxrt::ops {

template <class... T>
struct Types {};
template <class T>
struct Tag {
  using type = T;
};

template <class... A, class... B>
constexpr Types<A..., B...> operator+(Types<A...>, Types<B...>) {
  return {};
}

using Floats = Types<float, double, Half, BFloat16>;
using Integers = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
using Numbers = decltype(Floats{} + Integers{});
using Bools = Types<bool>;
using AnyFixed = decltype(Numbers{} + Bools{});
using Indices = Types<int32_t, int64_t>;

template <class T>
constexpr DType stored_dtype() {
  if constexpr (std::is_same_v<T, Half>) {
    return DType::f16;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return DType::bf16;
  } else {
    return dtype_of<T>();
  }
}

// Calls f(Tag<T>{}) for the type of the list that stores `dtype`; false when the list has none.
template <class... T, class F>
bool visit(Types<T...>, DType dtype, F&& f) {
  return ((stored_dtype<T>() == dtype ? (f(Tag<T>{}), true) : false) || ...);
}

template <class... T>
void expect_types(const NodeView& node, int i, Types<T...>) {
  node.expect_dtype(i, {stored_dtype<T>()...});
}

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// What arithmetic on stored T is done in.
template <class T>
using Computed = std::conditional_t<is_half<T>, float, T>;

template <class T>
inline Computed<T> load(const T& x) {
  if constexpr (is_half<T>) {
    return to_float(x);
  } else {
    return x;
  }
}

template <class T>
inline T store(Computed<T> x) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(x);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(x);
  } else {
    return x;
  }
}

}  // namespace nxrt::ops
