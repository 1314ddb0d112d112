// What is known about a value before running: element type, symbolic shape, and for small integer tensors the elements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "graph/dim.h"

namespace nxrt {

// Rank known, each dim a Dim.
class SymShape {
 public:
  SymShape() = default;
  SymShape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit SymShape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  explicit SymShape(const Shape& shape);

  int rank() const { return static_cast<int>(dims_.size()); }
  const Dim& operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  Dim& operator[](int axis) { return dims_[static_cast<size_t>(axis)]; }
  const std::vector<Dim>& dims() const { return dims_; }
  Dim count(int from, int to) const;
  Dim count() const { return count(0, rank()); }
  SymShape suffix(int axis) const;
  std::optional<Shape> constant() const;  // when every dim is a constant
  bool operator==(const SymShape& other) const { return dims_ == other.dims_; }
  std::string text() const;  // "[B, S, 64]"

 private:
  std::vector<Dim> dims_;
};

inline constexpr int64_t kMaxPropagatedElements = 1024;

struct TensorType {
  DType dtype = DType::none;
  std::optional<SymShape> shape;  // absent: rank unknown
  std::optional<std::vector<Dim>>
      elements;  // of an integer tensor with at most kMaxPropagatedElements elements, row-major

  std::string text() const;  // "f32[B, S, 64]"; "f32" when the rank is unknown
};

}  // namespace nxrt
