#include "gen/prefix_tree.h"

#include <algorithm>

namespace genai {

PrefixTree::PrefixTree(BlockPool& pool) : pool_(pool) { nodes_.emplace_back(); }

PrefixTree::~PrefixTree() {
  for (const int node : lru_) {
    pool_.mark_in_tree(nodes_[node].block, false);
    pool_.release(nodes_[node].block);
  }
}

size_t PrefixTree::hash_of(int parent, Key tokens) {
  uint64_t h = 0x9e3779b97f4a7c15u * static_cast<uint64_t>(parent + 1);
  for (const TokenId token : tokens) {
    h = (h ^ static_cast<uint32_t>(token.value)) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

int PrefixTree::find(int parent, Key tokens) const {
  const auto [begin, end] = index_.equal_range(hash_of(parent, tokens));
  for (auto it = begin; it != end; ++it) {
    const Node& node = nodes_[it->second];
    if (node.parent != parent || !std::equal(tokens.begin(), tokens.end(), node.tokens.begin())) continue;
    return it->second;
  }
  return -1;
}

int PrefixTree::insert(int parent, Key tokens, BlockId block) {
  int id = static_cast<int>(nodes_.size());
  if (unused_.empty()) {
    nodes_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  Node& node = nodes_[id];
  node = {.parent = parent, .block = block, .hash = hash_of(parent, tokens)};
  std::copy(tokens.begin(), tokens.end(), node.tokens.begin());
  node.age = lru_.insert(lru_.end(), id);
  index_.emplace(node.hash, id);
  if (parent != kRoot) ++nodes_[parent].children;
  pool_.retain(block);
  pool_.mark_in_tree(block, true);
  return id;
}

void PrefixTree::touch_path(int node) {
  for (; node != kRoot; node = nodes_[node].parent) lru_.splice(lru_.end(), lru_, nodes_[node].age);
}

bool PrefixTree::evict_oldest() {
  // A block somebody holds is in use now: it moves to the young end, so it isn't looked at again soon.
  for (size_t looked = 0, n = lru_.size(); looked < n; ++looked) {
    const int node = lru_.front();
    if (pool_.references(nodes_[node].block) == 1 && nodes_[node].children == 0) {
      erase(node);
      return true;
    }
    lru_.splice(lru_.end(), lru_, lru_.begin());
  }
  return false;
}

void PrefixTree::clear() {
  while (evict_oldest()) {
  }
}

void PrefixTree::erase(int id) {
  Node& node = nodes_[id];
  const auto [begin, end] = index_.equal_range(node.hash);
  index_.erase(std::find_if(begin, end, [id](const auto& entry) { return entry.second == id; }));
  lru_.erase(node.age);
  if (node.parent != kRoot) --nodes_[node.parent].children;
  pool_.mark_in_tree(node.block, false);
  pool_.release(node.block);
  node.parent = -1;
  unused_.push_back(id);
}

}  // namespace genai
