// What sequences hold of the cache: blocks of the pool, shared prefixes, or a dense model's own state. The one place
// that knows the difference.
//
//   cache.adopt_prefix(s);                       // what the tree already has
//   if (cache.extend(s, rows)) { …forward…; cache.commit(s, rows); }
//
// Invariant: a paged sequence's full blocks are the blocks of its path in the prefix tree, so equal prefixes have equal
// block ids. A block is written only when its sequence alone holds it.
// Threads: one. Errors: none after construction; extend answers false when the pool is full.
#pragma once

#include <list>
#include <memory>

#include "gen/decoder_model.h"
#include "gen/prefix_tree.h"
#include "gen/sequence.h"

namespace genai {

class KvCache {
 public:
  KvCache(DecoderModel& model, int64_t budget_bytes);  // no pool when the model is dense

  // Takes shared blocks for tokens not computed yet, always leaving one token to compute.
  void adopt_prefix(Sequence& sequence);
  // Makes room for `rows` more tokens; frees unused cached blocks and parked sequences if it must.
  bool extend(Sequence& sequence, int64_t rows);
  // `rows` more tokens are in the cache; full blocks become shareable.
  void commit(Sequence& sequence, int64_t rows);
  void rewind(Sequence& sequence, int64_t position);  // position <= tokens; tokens are cut too
  // `to` (fresh, its tokens start with from's first `position`) shares what `from` has computed of them. O(blocks).
  void fork(const Sequence& from, Sequence& to, int64_t position);
  void move(Sequence& from, Sequence& to);  // `to` takes tokens and cache; what it had is released
  void release(Sequence& sequence);         // holds nothing, computed = 0

  // A parked sequence keeps its blocks until the pool needs them; then it is released, oldest first.
  void park(Sequence& sequence);
  void unpark(Sequence& sequence);
  bool release_oldest_parked();

  // Tokens and bytes of a sequence's computed part, for saving; restore needs as many free blocks.
  std::vector<std::byte> save(const Sequence& sequence);
  bool restore(Sequence& sequence, std::span<const std::byte> bytes, int64_t computed);

  bool paged() const { return pool_ != nullptr; }
  int64_t available() const;        // blocks free now or on demand, parked ones not counted
  int64_t capacity_tokens() const;  // what one sequence alone can have; max int64 when dense
  BlockStats stats() const { return pool_ ? pool_->stats() : BlockStats{}; }
  std::byte* memory() { return pool_ ? pool_->memory() : nullptr; }
  int64_t resident_bytes() const { return pool_ ? pool_->resident_bytes() : 0; }
  void trim() {
    if (pool_) pool_->trim();
  }
  void clear_prefixes() {
    if (tree_) tree_->clear();
  }

 private:
  BlockId take();
  bool own_partial_block(Sequence& sequence);

  DecoderModel& model_;
  int64_t block_bytes_ = 0;
  std::unique_ptr<BlockPool> pool_;
  std::unique_ptr<PrefixTree> tree_;
  std::list<Sequence*> parked_;  // oldest first
};

}  // namespace genai
