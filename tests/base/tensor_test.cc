#include "base/tensor.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace nxrt {
namespace {

TEST(Shape, RefusesWhatCantBeATensor) {
  EXPECT_THROW(Shape({-1}), Error);
  EXPECT_THROW(Shape({1, 2, 3, 4, 5, 6, 7, 8, 9}), Error);
  EXPECT_THROW(Shape({int64_t{1} << 40, int64_t{1} << 40}), Error);
  EXPECT_EQ(Shape({int64_t{1} << 40, 0, int64_t{1} << 40}).count(), 0);
}

TEST(Shape, Broadcasts) {
  EXPECT_EQ(broadcast({2, 1, 4}, {3, 1}), Shape({2, 3, 4}));
  EXPECT_EQ(broadcast({}, {5}), Shape({5}));
  EXPECT_EQ(broadcast({0}, {1}), Shape({0}));
  EXPECT_THROW(broadcast({2}, {3}), Error);
}

TEST(Tensor, OwnsSharesAndBorrows) {
  Tensor a = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  const Tensor b = a.reshaped({4});
  a.data<float>()[3] = 9;
  EXPECT_EQ(b.data<float>()[3], 9);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.raw()) % 64, 0u);
  EXPECT_THROW((void)a.data<int64_t>(), Error);
  EXPECT_THROW((void)a.reshaped({5}), Error);
  EXPECT_FALSE(Tensor());
}

TEST(Tensor, RefusesMoreMemoryThanThereIs) {
  EXPECT_THROW(Tensor::uninitialized(DType::f64, {int64_t{1} << 60}), Error);
  EXPECT_THROW(Tensor::uninitialized(DType::f64, {int64_t{1} << 61, 3}), Error);
}

TEST(DType, BytesOfSubByteTypesRoundUp) {
  EXPECT_EQ(bytes_of(DType::i4, 3), 2);
  EXPECT_EQ(bytes_of(DType::u2, 5), 2);
  EXPECT_EQ(bytes_of(DType::f32, int64_t{1} << 60), -1);
  for (int i = 1; i < kDTypeCount; ++i) EXPECT_EQ(dtype_named(name_of(static_cast<DType>(i))), static_cast<DType>(i));
}

}  // namespace
}  // namespace nxrt
