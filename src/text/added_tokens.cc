#include "text/added_tokens.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "text/unicode.h"

namespace genai {

namespace {
size_t blanks_at_start(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && is_whitespace(decode_char(text, n))) n += utf8_length(static_cast<unsigned char>(text[n]));
  return n;
}

size_t blanks_at_end(std::string_view text) {
  const size_t all = text.size();
  while (!text.empty() && is_whitespace(last_char(text))) text.remove_suffix(last_char_length(text));
  return all - text.size();
}

bool touches_word(std::string_view text, size_t begin, size_t end) {
  const bool before = begin > 0 && is_word(last_char(text.substr(0, begin)));
  return before || (end < text.size() && is_word(decode_char(text, end)));
}
}  // namespace

uint32_t AddedTokens::Trie::child_of(uint32_t node, unsigned char byte) const {
  uint32_t child = nodes_[node].child;
  while (child != 0 && nodes_[child].byte != byte) child = nodes_[child].sibling;
  return child;
}

void AddedTokens::Trie::add(std::string_view content, uint32_t token) {
  uint32_t node = 0;
  for (size_t i = 0; i < content.size(); ++i) {
    const auto byte = static_cast<unsigned char>(content[i]);
    uint32_t next = i == 0 ? roots_[byte] : child_of(node, byte);
    if (next == 0) {
      next = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({0, i == 0 ? 0 : nodes_[node].child, 0, byte});
      (i == 0 ? roots_[byte] : nodes_[node].child) = next;
    }
    node = next;
  }
  if (node != 0 && nodes_[node].token == 0) nodes_[node].token = token + 1;  // of equal tokens the first counts
}

size_t AddedTokens::Trie::longest(std::string_view text, size_t at, size_t& length) const {
  size_t found = std::string_view::npos;
  uint32_t node = roots_[static_cast<unsigned char>(text[at])];
  for (size_t i = at + 1; node != 0; ++i) {
    if (nodes_[node].token != 0) {
      found = nodes_[node].token - 1;
      length = i - at;
    }
    if (i >= text.size()) break;
    node = child_of(node, static_cast<unsigned char>(text[i]));
  }
  return found;
}

void AddedTokens::add(AddedToken token, int32_t model_id, int32_t model_size) {
  const auto known = by_content_.find(token.content);
  if (known != by_content_.end()) {
    AddedToken& old = tokens_[known->second];
    token.id = old.id;
    token.special |= old.special;
    old = std::move(token);
    return;
  }
  token.id = model_id >= 0 ? model_id : std::max(size_, model_size);
  size_ = std::max(size_, token.id + 1);
  by_content_.emplace(token.content, tokens_.size());
  tokens_.push_back(std::move(token));
}

void AddedTokens::parse(const JsonNode& list, const Vocabulary& model, const Normalizer& normalizer) {
  size_t i = 0;
  for (const auto item : list.array()) {
    const JsonNode node = list.item(item, i++);
    AddedToken token{.content = std::string(node.string("content")),
                     .special = node.boolean("special", false),
                     .lstrip = node.boolean("lstrip", false),
                     .rstrip = node.boolean("rstrip", false),
                     .single_word = node.boolean("single_word", false)};
    token.normalized = node.boolean("normalized", !token.special);
    if (token.content.empty()) continue;
    if (token.content.size() > kMaxBytes) {
      throw nxrt::Error(nxrt::Code::out_of_capacity,
                        fmt::format("added token has {} bytes, expected at most {}", token.content.size(), kMaxBytes),
                        node.where());
    }
    add(std::move(token), model.find(node.string("content")), model.size());
  }
  for (const bool special : {true, false}) {  // special tokens first: of equal ones the first counts
    for (uint32_t t = 0; t < tokens_.size(); ++t) {
      if (tokens_[t].special != special) continue;
      std::string content = tokens_[t].content;
      if (tokens_[t].normalized) normalizer.apply(content);
      (tokens_[t].normalized ? normalized_ : raw_).add(content, t);
    }
  }
  for (uint32_t t = 0; t < tokens_.size(); ++t) by_id_[tokens_[t].id] = t;
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

void AddedTokens::split(Stage stage, std::string_view text, bool parse_special, const Piece& piece) const {
  const Trie& trie = stage == Stage::raw ? raw_ : normalized_;
  size_t done = 0;
  for (size_t at = 0; !trie.empty() && at < text.size();) {
    size_t length = 0;
    const size_t found =
        trie.starts(static_cast<unsigned char>(text[at])) ? trie.longest(text, at, length) : std::string_view::npos;
    if (found == std::string_view::npos) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[found];
    size_t begin = at, end = at + length;
    at = end;
    if (token.special && !parse_special) continue;
    if (token.single_word && touches_word(text, begin, end)) continue;
    if (token.lstrip) begin = std::max(begin - blanks_at_end(text.substr(0, begin)), done);
    if (token.rstrip) end += blanks_at_start(text.substr(end));
    if (done < begin) piece(-1, text.substr(done, begin - done), done);
    piece(token.id, text.substr(begin, end - begin), begin);
    done = end;
  }
  if (done < text.size()) piece(-1, text.substr(done), done);
}

}  // namespace genai
