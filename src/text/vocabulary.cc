#include "text/vocabulary.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "base/error.h"

namespace genai {

namespace {
uint32_t hash_of(std::string_view token) { return static_cast<uint32_t>(std::hash<std::string_view>()(token)); }
}  // namespace

size_t Vocabulary::slot_of(std::string_view token, uint32_t hash) const {
  size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != 0) {
    const Entry& entry = entries_[slots_[slot]];
    if (entry.hash == hash && text(entry) == token) break;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void Vocabulary::rehash(size_t slots) {
  slots_.assign(slots, 0);
  for (uint32_t i = 1; i < entries_.size(); ++i) slots_[slot_of(text(entries_[i]), entries_[i].hash)] = i;
}

void Vocabulary::reserve(size_t tokens) {
  entries_.reserve(tokens + 1);
  rehash(std::bit_ceil(std::max<size_t>(16, tokens * 2)));
}

void Vocabulary::add(std::string_view token, int64_t id, const std::string& where) {
  if (id < 0 || id > kMaxId) {
    throw nxrt::Error(nxrt::Code::invalid_argument, fmt::format("token id is {}, expected 0 to {}", id, kMaxId), where);
  }
  if (slots_.size() < entries_.size() * 2) rehash(std::max<size_t>(16, slots_.size() * 2));
  const uint32_t hash = hash_of(token);
  const size_t slot = slot_of(token, hash);
  if (slots_[slot] == 0) {
    slots_[slot] = static_cast<uint32_t>(entries_.size());
    entries_.push_back({static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(token.size()), -1, hash});
    bytes_.append(token);
    longest_ = std::max(longest_, token.size());
  }
  Entry& entry = entries_[slots_[slot]];
  if (has(entry.id) && by_id_[entry.id] == slots_[slot]) by_id_[entry.id] = 0;  // the token moves to its new id
  entry.id = static_cast<int32_t>(id);
  if (id >= size()) by_id_.resize(id + 1, 0);
  by_id_[id] = slots_[slot];
}

int32_t Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return -1;
  return entries_[slots_[slot_of(token, hash_of(token))]].id;
}

std::string_view Vocabulary::token(int32_t id) const {
  return has(id) ? text(entries_[by_id_[id]]) : std::string_view();
}

}  // namespace genai
