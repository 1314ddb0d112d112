#include "text/word_cache.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace genai {

bool WordCache::find(std::string_view word, std::vector<TokenId>& out) const {
  if (word.size() > kMaxBytes) return false;
  const uint64_t hash = std::hash<std::string_view>()(word);
  Shard& shard = shards_[hash % kShards];
  const std::lock_guard lock(shard.mutex);
  if (!shard.slots) return false;
  const Slot& slot = slot_of(shard, hash);
  if (slot.bytes != word.size() || std::memcmp(slot.word, word.data(), word.size()) != 0) return false;
  out.insert(out.end(), slot.id, slot.id + slot.ids);
  return true;
}

void WordCache::store(std::string_view word, std::span<const TokenId> ids) const {
  if (word.size() > kMaxBytes || ids.size() > kMaxIds) return;
  const uint64_t hash = std::hash<std::string_view>()(word);
  Shard& shard = shards_[hash % kShards];
  const std::lock_guard lock(shard.mutex);
  if (!shard.slots) shard.slots = std::make_unique<Slot[]>(kSlots);
  Slot& slot = slot_of(shard, hash);
  slot.bytes = static_cast<uint8_t>(word.size());
  slot.ids = static_cast<uint8_t>(ids.size());
  std::copy(word.begin(), word.end(), slot.word);
  std::copy(ids.begin(), ids.end(), slot.id);
}

}  // namespace genai
