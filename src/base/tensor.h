// A dense row-major tensor that owns its bytes, shares them, or borrows the caller's.
//
//   Tensor x = Tensor::zeros(DType::f32, {2, 3});
//   x.data<float>()[0] = 1.0f;
//
// Threads: a value with shared ownership of the bytes; concurrent reads are fine, a writer needs to be alone.
// Errors:  data<T>() with the wrong T throws Error{internal}. Allocation failure throws Error{out_of_capacity}.
// Memory:  zeros/uninitialized are 64-byte aligned; borrow() keeps `owner` alive (a mapped file, a caller's buffer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/dtype.h"
#include "base/shape.h"

namespace nxrt {

class Tensor {
 public:
  Tensor() = default;  // dtype none: "no tensor"
  static Tensor zeros(DType dtype, const Shape& shape);
  static Tensor uninitialized(DType dtype, const Shape& shape);
  // `bytes` must hold bytes_of(dtype, shape.count()); read-only unless the memory behind it is writable.
  static Tensor borrow(DType dtype, const Shape& shape, const void* bytes, std::shared_ptr<const void> owner);
  template <class T>
  static Tensor of(const Shape& shape, std::initializer_list<T> values) {
    return of(shape, std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Tensor of(const Shape& shape, std::span<const T> values) {
    return copy_of(dtype_of<T>(), shape, values.data(), static_cast<int64_t>(values.size()));
  }

  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  int64_t count() const noexcept { return shape_.count(); }
  int64_t bytes() const noexcept { return bytes_of(dtype_, count()); }
  explicit operator bool() const noexcept { return dtype_ != DType::none; }

  const void* raw() const noexcept { return data_; }
  void* raw_mutable() noexcept { return const_cast<void*>(data_); }
  template <class T>
  const T* data() const {
    expect(dtype_of<T>());
    return static_cast<const T*>(data_);
  }
  template <class T>
  T* data() {
    expect(dtype_of<T>());
    return static_cast<T*>(raw_mutable());
  }
  template <class T>
  std::span<const T> span() const {
    return {data<T>(), static_cast<size_t>(count())};
  }

  Tensor reshaped(const Shape& shape) const;  // same bytes; counts must agree
  Tensor clone() const;                       // bytes of its own
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

 private:
  static Tensor copy_of(DType dtype, const Shape& shape, const void* values, int64_t count);
  void expect(DType dtype) const;

  DType dtype_ = DType::none;
  Shape shape_;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

}  // namespace nxrt
