// Token strings ↔ ids.
//
// Threads: immutable once built. Errors: add() refuses ids outside [0, kMaxId] with Error{invalid_argument}.
// Memory:  one block of bytes and two tables; ids may have gaps, at most kMaxId of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace genai {

class Vocabulary {
 public:
  static constexpr int64_t kMaxId = (1 << 23) - 1;  // 30 times the largest vocabulary in use

  // The last of two equal tokens keeps the string, the last of two equal ids keeps the id.
  void add(std::string_view token, int64_t id, const std::string& where);
  void reserve(size_t tokens);
  int32_t find(std::string_view token) const;  // -1: none
  std::string_view token(int32_t id) const;    // empty: none
  bool has(int32_t id) const { return id >= 0 && id < size() && by_id_[id] != 0; }
  int32_t size() const { return static_cast<int32_t>(by_id_.size()); }  // highest id + 1
  size_t longest() const { return longest_; }                           // bytes

 private:
  struct Entry {
    uint32_t begin = 0, length = 0;
    int32_t id = -1;
    uint32_t hash = 0;
  };
  std::string_view text(const Entry& e) const { return std::string_view(bytes_).substr(e.begin, e.length); }
  size_t slot_of(std::string_view token, uint32_t hash) const;
  void rehash(size_t slots);

  std::string bytes_;
  std::vector<Entry> entries_{Entry{}};  // entry 0 is "none"
  std::vector<uint32_t> slots_;          // hash table of entry numbers, open addressing
  std::vector<uint32_t> by_id_;          // entry number, 0: none
  size_t longest_ = 0;
};

}  // namespace genai
