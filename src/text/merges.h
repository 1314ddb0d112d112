// The merge rules of BPE and the algorithm that applies them: always the lowest rank, of equal ones the leftmost.
//
// Threads: immutable once built. Errors: none. Cost: O(n log n) for n symbols.
// Source:  Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", as `tokenizers` orders it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace genai {

class Merges {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  struct Rule {
    uint32_t rank = kNone;
    int32_t id = -1;  // what the pair becomes
  };

  void reserve(size_t rules);
  void add(int32_t left, int32_t right, Rule rule);  // the last rule of a pair counts
  Rule find(int32_t left, int32_t right) const;
  void apply(std::vector<int32_t>& symbols) const;

 private:
  struct Slot {
    uint64_t pair = ~uint64_t{0};
    Rule rule;
  };
  size_t slot_of(uint64_t pair) const;
  void apply_short(std::vector<int32_t>& symbols) const;
  void apply_long(std::vector<int32_t>& symbols) const;

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace genai
