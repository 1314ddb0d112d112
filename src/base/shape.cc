#include "base/shape.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace nxrt {

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) {
    throw Error(Code::unsupported,
                "rank is " + std::to_string(dims.size()) + ", expected at most " + std::to_string(kMaxRank));
  }
  rank_ = static_cast<int>(dims.size());
  int64_t product = 1;
  bool empty = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    dims_[i] = dims[i];
    if (dims[i] < 0) throw Error(Code::invalid_argument, "dim " + std::to_string(i) + " is negative in " + text());
    empty = empty || dims[i] == 0;
    if (!empty && product > std::numeric_limits<int64_t>::max() / std::max<int64_t>(dims[i], 1)) {
      throw Error(Code::invalid_argument, "the number of elements of " + text() + " does not fit 63 bits");
    }
    product *= empty ? 1 : dims[i];
  }
}

int64_t Shape::count(int from, int to) const noexcept {
  int64_t product = 1;
  for (int i = from; i < to; ++i) product *= dims_[static_cast<size_t>(i)];
  return product;
}

Shape Shape::suffix(int axis) const { return Shape(dims().subspan(static_cast<size_t>(axis))); }

Shape Shape::with(int axis, int64_t dim) const {
  Shape copy = *this;
  copy.dims_[static_cast<size_t>(axis)] = dim;
  return Shape(copy.dims());
}

bool Shape::operator==(const Shape& other) const noexcept { return std::ranges::equal(dims(), other.dims()); }

std::string Shape::text() const {
  std::string all = "[";
  for (int i = 0; i < rank_; ++i) all += (i ? ", " : "") + std::to_string(dims_[static_cast<size_t>(i)]);
  return all + "]";
}

Shape broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<int64_t, Shape::kMaxRank> dims{};
  for (int i = 0; i < rank; ++i) {
    const int from_a = i - (rank - a.rank()), from_b = i - (rank - b.rank());
    const int64_t da = from_a < 0 ? 1 : a[from_a], db = from_b < 0 ? 1 : b[from_b];
    if (da != db && da != 1 && db != 1) {
      throw Error(Code::invalid_argument, "shapes " + a.text() + " and " + b.text() + " don't broadcast");
    }
    dims[static_cast<size_t>(i)] = da == 1 ? db : da;
  }
  return Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(rank)));
}

}  // namespace nxrt
