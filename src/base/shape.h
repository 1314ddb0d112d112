// A concrete tensor shape: up to kMaxRank dims, each >= 0, stored inline (copying never allocates).
//
// Errors: constructors throw Error{invalid_argument} on a rank above kMaxRank, a negative dim, or a product past int64.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace nxrt {

class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;  // rank 0: one element
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const noexcept { return rank_; }
  int64_t operator[](int axis) const noexcept { return dims_[static_cast<size_t>(axis)]; }
  std::span<const int64_t> dims() const noexcept { return {dims_.data(), static_cast<size_t>(rank_)}; }
  int64_t count() const noexcept { return count(0, rank_); }  // elements
  int64_t count(int from, int to) const noexcept;             // product of dims [from, to)
  Shape suffix(int axis) const;                               // dims [axis, rank)
  Shape with(int axis, int64_t dim) const;
  bool operator==(const Shape& other) const noexcept;
  std::string text() const;  // "[2, 3]"

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

// Multidirectional broadcast of ONNX; throws Error{invalid_argument} naming both shapes.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace nxrt
