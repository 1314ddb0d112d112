#include "gen/kv_cache.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace genai {
namespace {
PrefixTree::Key key_at(const Sequence& sequence, int64_t block) {
  return PrefixTree::Key(sequence.tokens.data() + block * kBlockTokens, kBlockTokens);
}
}  // namespace

KvCache::KvCache(DecoderModel& model, int64_t budget_bytes) : model_(model) {
  if (!model.paged()) return;
  pool_ = std::make_unique<BlockPool>(model.kv_layout(), budget_bytes);
  tree_ = std::make_unique<PrefixTree>(*pool_);
  block_bytes_ = model.kv_layout().block_bytes;
}

int64_t KvCache::available() const {
  if (!pool_) return std::numeric_limits<int64_t>::max() / 2;
  const BlockStats now = pool_->stats();
  return now.free() + now.cached;
}

int64_t KvCache::capacity_tokens() const {
  return pool_ ? pool_->total() * kBlockTokens : std::numeric_limits<int64_t>::max();
}

void KvCache::adopt_prefix(Sequence& sequence) {
  // A prompt whose rows are all scored needs all of them computed.
  if (!pool_ || sequence.score_prompt || sequence.computed % kBlockTokens != 0) return;
  const int64_t before = sequence.computed;
  while (sequence.computed + kBlockTokens < sequence.length()) {
    const int64_t index = sequence.computed / kBlockTokens;
    const int node = tree_->find(sequence.tree_node, key_at(sequence, index));
    if (node < 0) break;
    pool_->retain(tree_->block(node));
    if (index < static_cast<int64_t>(sequence.blocks.size())) {
      pool_->release(std::exchange(sequence.blocks[index], tree_->block(node)));
    } else {
      sequence.blocks.push_back(tree_->block(node));
    }
    sequence.tree_node = node;
    sequence.take_cached(sequence.computed + kBlockTokens);
  }
  if (sequence.computed > before) tree_->touch_path(sequence.tree_node);
}

BlockId KvCache::take() {
  while (true) {
    const BlockId block = pool_->allocate();
    if (block.valid()) return block;
    if (!tree_->evict_oldest() && !release_oldest_parked()) return BlockId();
  }
}

bool KvCache::own_partial_block(Sequence& sequence) {
  if (sequence.computed % kBlockTokens == 0) return true;
  BlockId& last = sequence.blocks[sequence.computed / kBlockTokens];
  if (pool_->references(last) == 1) return true;
  const BlockId own = take();
  if (!own.valid()) return false;
  pool_->copy(last, own);
  pool_->release(last);
  last = own;
  return true;
}

bool KvCache::extend(Sequence& sequence, int64_t rows) {
  if (!pool_) return true;
  if (!own_partial_block(sequence)) return false;
  while (static_cast<int64_t>(sequence.blocks.size()) < blocks_for(sequence.computed + rows)) {
    const BlockId block = take();
    if (!block.valid()) return false;
    sequence.blocks.push_back(block);
  }
  return true;
}

void KvCache::commit(Sequence& sequence, int64_t rows) {
  const int64_t full_before = sequence.computed / kBlockTokens;
  sequence.computed += rows;
  sequence.covered = std::max(sequence.covered, sequence.computed);
  if (!pool_) return;
  for (int64_t i = full_before; i < sequence.computed / kBlockTokens; ++i) {
    const int known = tree_->find(sequence.tree_node, key_at(sequence, i));
    if (known < 0) {
      sequence.tree_node = tree_->insert(sequence.tree_node, key_at(sequence, i), sequence.blocks[i]);
      continue;
    }
    // Another sequence computed the same block meanwhile: one copy is enough.
    pool_->retain(tree_->block(known));
    pool_->release(std::exchange(sequence.blocks[i], tree_->block(known)));
    sequence.tree_node = known;
  }
}

void KvCache::rewind(Sequence& sequence, int64_t position) {
  sequence.tokens.resize(static_cast<size_t>(position));
  if (position >= sequence.computed) return;
  if (!pool_) {
    model_.rewind(sequence.id, position);
  } else {
    tree_->touch_path(sequence.tree_node);
    for (int64_t i = sequence.computed / kBlockTokens; i > position / kBlockTokens; --i) {
      sequence.tree_node = tree_->parent(sequence.tree_node);
    }
    while (static_cast<int64_t>(sequence.blocks.size()) > blocks_for(position)) {
      pool_->release(sequence.blocks.back());
      sequence.blocks.pop_back();
    }
  }
  sequence.computed = position;
}

void KvCache::fork(const Sequence& from, Sequence& to, int64_t position) {
  const int64_t shared = std::min(position, from.computed);
  if (shared == 0) return;
  if (!pool_) {
    model_.fork(from.id, to.id, shared);
  } else {
    to.blocks.assign(from.blocks.begin(), from.blocks.begin() + blocks_for(shared));
    for (const BlockId block : to.blocks) pool_->retain(block);
    to.tree_node = from.tree_node;
    for (int64_t i = from.computed / kBlockTokens; i > shared / kBlockTokens; --i) {
      to.tree_node = tree_->parent(to.tree_node);
    }
  }
  to.take_cached(shared);
}

void KvCache::move(Sequence& from, Sequence& to) {
  release(to);
  fork(from, to, from.computed);
  release(from);
  to.tokens = from.tokens;
}

void KvCache::release(Sequence& sequence) {
  if (pool_) {
    tree_->touch_path(sequence.tree_node);
    for (const BlockId block : sequence.blocks) pool_->release(block);
  } else {
    model_.forget(sequence.id);
  }
  sequence.blocks.clear();
  sequence.tree_node = PrefixTree::kRoot;
  sequence.computed = 0;
}

void KvCache::park(Sequence& sequence) {
  if (pool_) tree_->touch_path(sequence.tree_node);
  unpark(sequence);
  parked_.push_back(&sequence);
}

void KvCache::unpark(Sequence& sequence) { parked_.remove(&sequence); }

bool KvCache::release_oldest_parked() {
  if (parked_.empty()) return false;
  release(*parked_.front());
  parked_.pop_front();
  return true;
}

std::vector<std::byte> KvCache::save(const Sequence& sequence) {
  std::vector<std::byte> bytes;
  if (!pool_) return bytes;
  const int64_t blocks = blocks_for(sequence.computed);
  bytes.resize(static_cast<size_t>(blocks * block_bytes_));
  for (int64_t i = 0; i < blocks; ++i) {
    std::memcpy(bytes.data() + i * block_bytes_, pool_->data(sequence.blocks[i]), static_cast<size_t>(block_bytes_));
  }
  return bytes;
}

bool KvCache::restore(Sequence& sequence, std::span<const std::byte> bytes, int64_t computed) {
  if (!pool_ || !extend(sequence, computed)) {
    release(sequence);
    return false;
  }
  for (int64_t i = 0; i < blocks_for(computed); ++i) {
    std::memcpy(pool_->data(sequence.blocks[i]), bytes.data() + i * block_bytes_, static_cast<size_t>(block_bytes_));
  }
  commit(sequence, computed);
  return true;
}

}  // namespace genai
