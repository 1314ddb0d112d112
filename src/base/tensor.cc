#include "base/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace nxrt {
namespace {

constexpr size_t kAlignment = 64;

std::shared_ptr<void> allocate(int64_t bytes, DType dtype, const Shape& shape) {
  const size_t rounded = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + kAlignment - 1) / kAlignment * kAlignment;
  void* p = bytes < 0 ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (!p) {
    throw Error(Code::out_of_capacity, "no memory for a tensor " + std::string(name_of(dtype)) + shape.text());
  }
  return {p, std::free};
}

}  // namespace

Tensor Tensor::uninitialized(DType dtype, const Shape& shape) {
  Tensor t;
  t.dtype_ = dtype;
  t.shape_ = shape;
  std::shared_ptr<void> memory = allocate(bytes_of(dtype, shape.count()), dtype, shape);
  t.data_ = memory.get();
  t.owner_ = std::move(memory);
  return t;
}

Tensor Tensor::zeros(DType dtype, const Shape& shape) {
  Tensor t = uninitialized(dtype, shape);
  std::memset(t.raw_mutable(), 0, static_cast<size_t>(t.bytes()));
  return t;
}

Tensor Tensor::borrow(DType dtype, const Shape& shape, const void* bytes, std::shared_ptr<const void> owner) {
  Tensor t;
  t.dtype_ = dtype;
  t.shape_ = shape;
  t.data_ = bytes;
  t.owner_ = std::move(owner);
  return t;
}

Tensor Tensor::copy_of(DType dtype, const Shape& shape, const void* values, int64_t count) {
  if (count != shape.count()) {
    throw Error(Code::internal, std::to_string(count) + " values for a tensor of shape " + shape.text());
  }
  Tensor t = uninitialized(dtype, shape);
  if (count > 0) std::memcpy(t.raw_mutable(), values, static_cast<size_t>(t.bytes()));
  return t;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.count() != count()) {
    throw Error(Code::internal, "a tensor of shape " + shape_.text() + " can't be seen as " + shape.text());
  }
  Tensor t = *this;
  t.shape_ = shape;
  return t;
}

Tensor Tensor::clone() const {
  Tensor copy = uninitialized(dtype_, shape_);
  if (bytes() > 0) std::memcpy(copy.raw_mutable(), data_, static_cast<size_t>(bytes()));
  return copy;
}

void Tensor::expect(DType dtype) const {
  if (dtype != dtype_) {
    throw Error(Code::internal,
                "a tensor of " + std::string(name_of(dtype_)) + " was read as " + std::string(name_of(dtype)));
  }
}

}  // namespace nxrt
