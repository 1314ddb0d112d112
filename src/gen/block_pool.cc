#include "gen/block_pool.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>

namespace genai {
namespace {
constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max() / 2;
}  // namespace

BlockPool::BlockPool(const KvLayout& layout, int64_t budget_bytes) : block_bytes_(layout.block_bytes) {
  if (block_bytes_ <= 0) throw Error(Code::invalid_argument, "the KV layout has no layers");
  total_ = std::min(budget_bytes / block_bytes_, kMostBlocks);
  if (total_ < 1) {
    throw Error(Code::out_of_capacity,
                fmt::format("KV memory is {} bytes, expected at least {} (16 tokens)", budget_bytes, block_bytes_),
                "the KV cache", "give the KV cache more memory");
  }
  mapped_bytes_ = total_ * block_bytes_;
  // Without MAP_NORESERVE a large budget would count as used memory before a single token is there.
  void* at = mmap(nullptr, static_cast<size_t>(mapped_bytes_), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    throw Error(Code::io, fmt::format("can't reserve {} bytes for the KV cache: {}", mapped_bytes_, strerror(errno)),
                "the KV cache", "lower the KV memory");
  }
  memory_ = static_cast<std::byte*>(at);
  // Advice only. A token's keys and values lie in as many places as the model has layers and heads: with small pages
  // each of them costs a walk of the page table.
  madvise(memory_, static_cast<size_t>(mapped_bytes_), MADV_HUGEPAGE);
}

BlockPool::~BlockPool() { munmap(memory_, static_cast<size_t>(mapped_bytes_)); }

BlockId BlockPool::allocate() {
  int32_t block = 0;
  if (!free_.empty()) {
    std::pop_heap(free_.begin(), free_.end(), std::greater<>());
    block = free_.back();
    free_.pop_back();
  } else if (high_ < total_) {
    block = static_cast<int32_t>(high_++);
    if (static_cast<size_t>(high_) > references_.size()) {
      references_.push_back(0);
      in_tree_.push_back(false);
    }
  } else {
    return BlockId();
  }
  references_[block] = 1;
  ++used_;
  return BlockId(block);
}

void BlockPool::retain(BlockId block) {
  assert(references(block) > 0);
  if (only_tree(block.value)) --cached_;
  ++references_[block.value];
}

void BlockPool::release(BlockId block) {
  assert(references(block) > 0);
  if (only_tree(block.value)) --cached_;
  if (--references_[block.value] == 0) {
    assert(!in_tree_[block.value]);
    --used_;
    freed_since_trim_ = true;
    free_.push_back(block.value);
    std::push_heap(free_.begin(), free_.end(), std::greater<>());
  }
  if (only_tree(block.value)) ++cached_;
}

void BlockPool::mark_in_tree(BlockId block, bool in_tree) {
  if (only_tree(block.value)) --cached_;
  in_tree_[block.value] = in_tree;
  if (only_tree(block.value)) ++cached_;
}

void BlockPool::copy(BlockId from, BlockId to) { std::memcpy(data(to), data(from), static_cast<size_t>(block_bytes_)); }

BlockStats BlockPool::stats() const {
  return {.total = total_, .used = used_, .cached = cached_, .block_bytes = block_bytes_};
}

int64_t BlockPool::resident_bytes() const { return high_ * block_bytes_; }

void BlockPool::trim() {
  if (!freed_since_trim_) return;
  freed_since_trim_ = false;
  std::sort(free_.begin(), free_.end());  // a sorted array is a min-heap
  while (!free_.empty() && free_.back() == high_ - 1) {
    free_.pop_back();
    --high_;
  }
  give_back(high_, static_cast<int64_t>(references_.size()));
  references_.resize(static_cast<size_t>(high_));
  in_tree_.resize(static_cast<size_t>(high_));
  for (size_t i = 0; i < free_.size();) {
    size_t end = i + 1;
    while (end < free_.size() && free_[end] == free_[end - 1] + 1) ++end;
    give_back(free_[i], free_[end - 1] + 1);
    i = end;
  }
}

void BlockPool::give_back(int64_t begin, int64_t end) {
  static const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t first = (begin * block_bytes_ + page - 1) / page * page;  // pages shared with a neighbour stay
  const int64_t last = end == total_ ? mapped_bytes_ : end * block_bytes_ / page * page;
  if (first < last) madvise(memory_ + first, static_cast<size_t>(last - first), MADV_DONTNEED);
}

}  // namespace genai
