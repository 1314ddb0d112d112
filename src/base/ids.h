// Integers that can't be swapped by accident.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace nxrt {

template <class Tag, class T = int32_t>
struct Id {
  T value = -1;
  constexpr Id() = default;
  constexpr explicit Id(T v) : value(v) {}
  constexpr bool valid() const { return value >= 0; }
  auto operator<=>(const Id&) const = default;
};

}  // namespace nxrt

template <class Tag, class T>
struct std::hash<nxrt::Id<Tag, T>> {
  size_t operator()(nxrt::Id<Tag, T> id) const noexcept { return std::hash<T>()(id.value); }
};
