// A tokenizer without files: token i is one letter, except the last two, which are the halves of "é".
#pragma once

#include "text/tokenizer.h"

namespace genai {

class FakeTokenizer : public Tokenizer {
 public:
  explicit FakeTokenizer(int vocab_size) : size_(vocab_size) {}
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions&) const override {
    std::vector<TokenId> ids;
    for (const char c : text) ids.emplace_back(c - 'A');
    return ids;
  }
  std::string decode(std::span<const TokenId> ids, bool) const override {
    std::string text;
    for (const TokenId id : ids) text += bytes_of(id, false);
    return text;
  }
  int vocab_size() const override { return size_; }
  std::optional<TokenId> id_of(std::string_view token) const override { return TokenId(token[0] - 'A'); }
  std::string token(TokenId id) const override { return bytes_of(id, false); }
  bool is_special(TokenId) const override { return false; }
  std::string bytes_of(TokenId id, bool) const override {
    if (id.value == size_ - 2) return "\xc3";
    if (id.value == size_ - 1) return "\xa9";
    return std::string(1, static_cast<char>('A' + id.value % 58));
  }

 private:
  int size_;
};

}  // namespace genai
