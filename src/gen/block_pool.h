// The memory of the KV cache: blocks of 16 tokens, reference-counted.
//
//   BlockPool pool(model.kv_layout(), 1 << 30);
//   BlockId b = pool.allocate();  …  pool.release(b);
//
// Threads: one. Errors: the constructor throws Error{out_of_capacity} when the budget holds no block, {io} when the
// address
//          space can't be reserved; later calls don't fail: a full pool answers with an invalid BlockId.
// Memory:  the budget is reserved as address space once; only pages that were written are resident. The lowest free
// block
//          goes first, so a short chat touches few pages; trim() gives free ones back.
#pragma once

#include <cstddef>
#include <vector>

#include "gen/ids.h"
#include "gen/kv_layout.h"

namespace genai {

struct BlockStats {
  int64_t total = 0;
  int64_t used = 0;    // referenced by anyone, the cached ones included
  int64_t cached = 0;  // referenced by the prefix tree alone: free on demand
  int64_t block_bytes = 0;
  int64_t free() const { return total - used; }
};

class BlockPool {
 public:
  BlockPool(const KvLayout& layout, int64_t budget_bytes);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  BlockId allocate();  // one reference, content undefined; invalid when no block is free
  void retain(BlockId block);
  void release(BlockId block);
  int references(BlockId block) const { return references_[block.value]; }
  // The prefix tree tells which blocks it holds (with one of the references), so that stats().cached is known.
  void mark_in_tree(BlockId block, bool in_tree);

  void copy(BlockId from, BlockId to);
  std::byte* memory() { return memory_; }
  std::byte* data(BlockId block) { return memory_ + block.value * block_bytes_; }

  BlockStats stats() const;
  int64_t total() const { return total_; }
  int64_t resident_bytes() const;  // upper bound: blocks ever used since the last trim
  void trim();                     // gives the memory of free blocks back to the system

 private:
  bool only_tree(int32_t block) const { return in_tree_[block] && references_[block] == 1; }
  void give_back(int64_t begin, int64_t end);  // blocks [begin, end)

  int64_t block_bytes_ = 0, total_ = 0, mapped_bytes_ = 0;
  std::byte* memory_ = nullptr;
  int64_t high_ = 0;           // blocks at and above were never used since the last trim
  std::vector<int32_t> free_;  // min-heap of free blocks below high_
  std::vector<int32_t> references_;
  std::vector<bool> in_tree_;
  int64_t used_ = 0, cached_ = 0;
  bool freed_since_trim_ = false;
};

}  // namespace genai
