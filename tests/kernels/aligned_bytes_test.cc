#include "kernels/aligned_bytes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace nxrt {
namespace {

TEST(AllocateAligned, IsAlignedWhateverTheSize) {
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{65}, int64_t{100'001}, int64_t{3} << 20}) {
    const AlignedBytes p = allocate_aligned(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p.get()) % 64, 0u) << bytes;
  }
}

// Sizes that share slabs, fill one to the last byte, and just don't fit any more; freed in another order.
TEST(AllocateAligned, MatricesDoNotOverlap) {
  const int64_t sizes[] = {1 << 20, 100'001, 64 << 10, (2 << 20) - 64, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20};
  std::vector<AlignedBytes> all;
  for (int round = 0; round < 3; ++round) {
    for (const int64_t bytes : sizes) {
      all.push_back(allocate_aligned(bytes));
      std::memset(all.back().get(), static_cast<int>(all.size()), static_cast<size_t>(bytes));
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const auto bytes = static_cast<size_t>(sizes[i % std::size(sizes)]);
      if (!all[i]) continue;
      EXPECT_EQ(all[i][0], static_cast<std::byte>(i + 1)) << i;
      EXPECT_EQ(all[i][bytes - 1], static_cast<std::byte>(i + 1)) << i;
    }
    for (size_t i = static_cast<size_t>(round); i < all.size(); i += 3) all[i].reset();
  }
}

TEST(AllocateAligned, WhatWasFreedCanBeHadAgain) {
  for (int i = 0; i < 4000; ++i) allocate_aligned(1 << 20)[0] = std::byte{1};  // 4 GB when nothing were given back
}

}  // namespace
}  // namespace nxrt
