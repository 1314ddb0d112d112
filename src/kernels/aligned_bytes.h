// Memory for packed weights: aligned to cache lines, and in huge pages where there is enough of it. Streaming weights
// through 4 KiB pages costs a walk of the page table, and a restart of the hardware's prefetch, per 64 cache lines.
//
//   AlignedBytes data = allocate_aligned(bytes);   // uninitialized
//
// Threads: any. Errors: Error{out_of_capacity}.
// Memory:  matrices too small for huge pages of their own share slabs; a slab is freed with its last matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace nxrt {

struct Slab;

struct FreeAligned {
  Slab* slab = nullptr;  // null: an allocation of its own
  void operator()(std::byte* p) const noexcept;
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeAligned>;
AlignedBytes allocate_aligned(int64_t bytes);

}  // namespace nxrt
