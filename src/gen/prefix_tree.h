// Which token prefixes have their keys and values in the pool: a trie whose edges are full blocks of 16 tokens.
//
//   int node = tree.find(PrefixTree::kRoot, next_16_tokens);      // -1: not there
//   node = tree.insert(PrefixTree::kRoot, next_16_tokens, block); // the tree takes a reference of its own
//
// A match compares tokens; a hash only finds the candidate. A node whose block a sequence also holds is never evicted,
// so a sequence may keep its node id as long as it keeps the block. Threads: one. Errors: none.
#pragma once

#include <array>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "gen/block_pool.h"

namespace genai {

class PrefixTree {
 public:
  using Key = std::span<const TokenId, kBlockTokens>;
  static constexpr int kRoot = 0;

  explicit PrefixTree(BlockPool& pool);
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  int find(int parent, Key tokens) const;
  int insert(int parent, Key tokens, BlockId block);  // the tokens are not below `parent` yet
  int parent(int node) const { return nodes_[node].parent; }
  BlockId block(int node) const { return nodes_[node].block; }
  // The path from the root to `node` is used now, its leaf the least: whoever walks or leaves a path says so.
  void touch_path(int node);
  int64_t size() const { return static_cast<int64_t>(lru_.size()); }

  bool evict_oldest();  // frees the least recently used block that nobody else holds; false when there is none
  void clear();         // evicts all that nobody else holds

 private:
  struct Node {
    int parent = -1;
    int children = 0;
    BlockId block;
    size_t hash = 0;
    std::array<TokenId, kBlockTokens> tokens{};
    std::list<int>::iterator age;
  };
  static size_t hash_of(int parent, Key tokens);
  void erase(int node);

  BlockPool& pool_;
  std::vector<Node> nodes_;
  std::vector<int> unused_;
  std::unordered_multimap<size_t, int> index_;
  std::list<int> lru_;  // oldest first
};

}  // namespace genai
