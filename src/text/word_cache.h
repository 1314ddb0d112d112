// Remembers the tokens of short words.
//
// Threads: any; each shard has its own lock. Errors: none.
// Memory:  fixed (kShards · kSlots · 64 bytes, allocated by the first store); a new word takes an old one's place.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace genai {

class WordCache {
 public:
  bool find(std::string_view word, std::vector<TokenId>& out) const;  // appends
  void store(std::string_view word, std::span<const TokenId> ids) const;

 private:
  static constexpr size_t kShards = 32, kSlots = 2048;
  static constexpr size_t kMaxBytes = 34, kMaxIds = 7;
  struct Slot {
    uint8_t bytes = 0, ids = 0;
    char word[kMaxBytes];
    TokenId id[kMaxIds];
  };
  static_assert(sizeof(Slot) == 64);
  struct Shard {
    std::mutex mutex;
    std::unique_ptr<Slot[]> slots;
  };
  static Slot& slot_of(const Shard& shard, uint64_t hash) { return shard.slots[hash / kShards % kSlots]; }

  mutable std::array<Shard, kShards> shards_;
};

}  // namespace genai
