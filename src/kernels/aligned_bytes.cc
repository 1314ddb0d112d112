#include "kernels/aligned_bytes.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace nxrt {

// Matrices are packed one after the other, so a slab is filled from its start and nothing in it is reused.
struct Slab {
  std::byte* memory;
  int64_t used = 0, matrices = 0;
};

namespace {

constexpr int64_t kLine = 64, kHugePage = 2 << 20, kSlab = 4 * kHugePage;
constexpr int64_t kLeastShared = 64 << 10;  // smaller ones gain nothing

std::byte* allocate(int64_t bytes) {
  const int64_t alignment = bytes >= kHugePage ? kHugePage : kLine;
  void* p = nullptr;
  if (posix_memalign(&p, static_cast<size_t>(alignment), static_cast<size_t>(std::max(bytes, kLine))) != 0) {
    throw Error(Code::out_of_capacity, fmt::format("{} bytes for packed weights can't be had", bytes), {},
                "use a smaller or more strongly quantized model, or free memory");
  }
  // Advice only, for whole huge pages.
  if (bytes >= kHugePage) madvise(p, static_cast<size_t>(bytes / kHugePage * kHugePage), MADV_HUGEPAGE);
  return static_cast<std::byte*>(p);
}

class Slabs {
 public:
  AlignedBytes take(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!open_ || open_->used + bytes > kSlab) {
      auto fresh = std::make_unique<Slab>(Slab{.memory = allocate(kSlab)});
      open_ = fresh.release();
    }
    ++open_->matrices;
    return AlignedBytes(open_->memory + std::exchange(open_->used, open_->used + bytes), FreeAligned{open_});
  }
  void give_back(Slab* slab) {
    const std::lock_guard lock(mutex_);
    if (--slab->matrices > 0) return;
    if (slab == open_) open_ = nullptr;
    destroy(slab);
  }

 private:
  static void destroy(Slab* slab) {
    std::free(slab->memory);
    delete slab;
  }
  std::mutex mutex_;
  Slab* open_ = nullptr;  // the one that still has room
};

Slabs& slabs() {
  static Slabs& all = *new Slabs;  // outlives every static that owns weights
  return all;
}

}  // namespace

void FreeAligned::operator()(std::byte* p) const noexcept {
  if (!slab) return std::free(p);
  slabs().give_back(slab);
}

AlignedBytes allocate_aligned(int64_t bytes) {
  const int64_t rounded = (bytes + kLine - 1) / kLine * kLine;
  if (rounded >= kLeastShared && rounded < kHugePage) return slabs().take(rounded);
  return AlignedBytes(allocate(rounded));
}

}  // namespace nxrt
