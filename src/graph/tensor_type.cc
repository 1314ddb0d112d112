#include "graph/tensor_type.h"

namespace nxrt {

SymShape::SymShape(const Shape& shape) {
  for (const int64_t dim : shape.dims()) dims_.emplace_back(dim);
}

Dim SymShape::count(int from, int to) const {
  Dim product = 1;
  for (int axis = from; axis < to; ++axis) product = product * (*this)[axis];
  return product;
}

SymShape SymShape::suffix(int axis) const { return SymShape(std::vector<Dim>(dims_.begin() + axis, dims_.end())); }

std::optional<Shape> SymShape::constant() const {
  if (rank() > Shape::kMaxRank) return {};
  std::vector<int64_t> sizes;
  for (const Dim& dim : dims_) {
    const auto size = dim.constant();
    if (!size || *size < 0) return {};
    sizes.push_back(*size);
  }
  return Shape(std::span<const int64_t>(sizes));
}

std::string SymShape::text() const {
  std::string text = "[";
  for (const Dim& dim : dims_) text += (text.size() > 1 ? ", " : "") + dim.text();
  return text + "]";
}

std::string TensorType::text() const {
  const std::string element(name_of(dtype));
  return shape ? element + shape->text() : element;
}

}  // namespace nxrt
