// Byte-pair encoding, over characters or over bytes.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "text/byte_level.h"
#include "text/merges.h"
#include "text/model.h"
#include "text/unicode.h"
#include "text/word_cache.h"

namespace genai {

namespace {
// Which neighbouring characters some merge joins. Where it says no, a text can be cut without changing its tokens.
// One-sided: an accidental yes only costs a cut.
class Joints {
 public:
  void add(char32_t left, char32_t right) { bits_.set(index(left, right)); }
  bool may_join(char32_t left, char32_t right) const { return bits_.test(index(left, right)); }

 private:
  static constexpr size_t kBits = 1 << 20;
  static size_t index(char32_t left, char32_t right) {
    return ((static_cast<uint64_t>(left) << 32 | right) * 0x9E3779B97F4A7C15u >> 44) % kBits;
  }
  std::bitset<kBits> bits_;
};

using ByteIds = std::array<int32_t, 256>;

std::string fallback_token(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }
std::string char_token(unsigned char byte) { return bytes_to_chars({reinterpret_cast<const char*>(&byte), 1}); }

ByteIds find_bytes(const Vocabulary& vocabulary, std::string (*name)(unsigned char)) {
  ByteIds ids{};
  for (int b = 0; b < 256; ++b) ids[b] = vocabulary.find(name(static_cast<unsigned char>(b)));
  return ids;
}

bool complete(const ByteIds& ids) { return std::find(ids.begin(), ids.end(), -1) == ids.end(); }

bool is_fallback_token(std::string_view token) {
  return token.size() == 6 && token.starts_with("<0x") && token.ends_with('>');
}

// "a b" or ["a", "b"]
std::optional<std::pair<std::string_view, std::string_view>> split_merge(simdjson::dom::element merge) {
  std::string_view left, right;
  simdjson::dom::array pair;
  if (merge.get(left) == simdjson::SUCCESS) {
    const size_t space = left.find(' ');
    if (space == std::string_view::npos || left.find(' ', space + 1) != std::string_view::npos) return std::nullopt;
    return std::pair(left.substr(0, space), left.substr(space + 1));
  }
  const bool good = merge.get(pair) == simdjson::SUCCESS && pair.size() == 2 &&
                    pair.at(0).get(left) == simdjson::SUCCESS && pair.at(1).get(right) == simdjson::SUCCESS;
  return good ? std::optional(std::pair(left, right)) : std::nullopt;
}

class Bpe : public Model {
 public:
  Bpe(const JsonNode& node, bool words_are_bytes) : words_are_bytes_(words_are_bytes) {
    if (node.has("dropout") && node.at("dropout").number() != 0) {
      node.unsupported("dropout is set, which makes tokens random", "set dropout to null");
    }
    vocabulary_ = parse_vocabulary(node.at("vocab"));
    prefix_ = node.string("continuing_subword_prefix", "");
    suffix_ = node.string("end_of_word_suffix", "");
    has_unknown_ = node.has("unk_token");
    unknown_ = vocabulary_.find(node.string("unk_token", ""));
    fuse_unknown_ = node.boolean("fuse_unk", false);
    byte_fallback_ = node.boolean("byte_fallback", false);
    ignore_merges_ = node.boolean("ignore_merges", false);
    find_byte_tokens();
    parse_merges(node.at("merges"));
    if (by_bytes_ && ignore_merges_) index_words();
  }

  void tokenize(std::string_view word, std::vector<TokenId>& out) const override {
    if (words_are_bytes_ && !by_bytes_) {
      tokenize_uncut(bytes_to_chars(word), out);
    } else if (joints_) {
      tokenize_in_cuts(word, out);
    } else {
      tokenize_uncut(word, out);
    }
  }

 private:
  void find_byte_tokens();
  void parse_merges(const JsonNode& node);
  void add_merge(std::string_view left, std::string_view right, uint32_t rank, const JsonNode& node);
  void index_words();
  int32_t whole_word(std::string_view word) const;
  void tokenize_in_cuts(std::string_view word, std::vector<TokenId>& out) const;
  void tokenize_uncut(std::string_view word, std::vector<TokenId>& out) const;
  std::vector<int32_t> byte_symbols(std::string_view word) const;
  std::vector<int32_t> char_symbols(std::string_view word) const;
  bool append_fallback(std::string_view symbol, std::vector<int32_t>& symbols) const;
  int32_t unknown() const;
  std::string affixed(std::string_view c, bool first, bool last) const;

  std::string prefix_, suffix_;
  bool words_are_bytes_, by_bytes_ = false;  // by_bytes_: symbols begin as the bytes' tokens
  bool has_unknown_, fuse_unknown_, byte_fallback_, ignore_merges_;
  int32_t unknown_;
  ByteIds byte_ids_{};  // of byte characters when by_bytes_, else of "<0x..>"; -1: none
  Merges merges_;
  std::unique_ptr<Joints> joints_;  // null: cutting could change tokens
  Vocabulary words_;                // raw bytes → id, when words are looked up whole
  WordCache cache_;
};

void Bpe::find_byte_tokens() {
  if (words_are_bytes_ && prefix_.empty() && suffix_.empty()) {
    byte_ids_ = find_bytes(vocabulary_, char_token);
    by_bytes_ = complete(byte_ids_);
  }
  if (!by_bytes_) byte_ids_ = find_bytes(vocabulary_, fallback_token);
}

void Bpe::parse_merges(const JsonNode& node) {
  const auto list = node.array();
  merges_.reserve(list.size());
  // A character without a token must not vanish or be fused with its neighbour: it has to become bytes.
  const bool can_cut =
      !by_bytes_ && !ignore_merges_ && prefix_.empty() && suffix_.empty() && byte_fallback_ && complete(byte_ids_);
  if (can_cut) joints_ = std::make_unique<Joints>();
  uint32_t rank = 0;
  for (const auto item : list) {
    const auto merge = split_merge(item);
    if (!merge) node.item(item, rank).fail("merge is not two tokens, expected \"a b\" or [\"a\", \"b\"]");
    add_merge(merge->first, merge->second, rank++, node);
  }
}

void Bpe::add_merge(std::string_view left, std::string_view right, uint32_t rank, const JsonNode& node) {
  const auto id_of = [&](std::string_view token) {
    const int32_t id = vocabulary_.find(token);
    if (id < 0) {
      node.fail(
          fmt::format("merge {} makes or needs token '{}', which is not in the vocabulary", rank, token.substr(0, 80)));
    }
    return id;
  };
  const int32_t left_id = id_of(left), right_id = id_of(right);
  std::string whole(left);
  for (size_t skip = count_chars(prefix_); skip > 0 && !right.empty(); --skip) {
    right.remove_prefix(utf8_length(static_cast<unsigned char>(right[0])));
  }
  whole += right;
  merges_.add(left_id, right_id, {rank, id_of(whole)});
  if (!joints_) return;
  if (left.empty() || right.empty() || is_fallback_token(left) || is_fallback_token(right)) {
    joints_.reset();  // merges reach across characters in ways their neighbours don't show
  } else {
    joints_->add(last_char(left), decode_char(right, 0));
  }
}

void Bpe::index_words() {
  words_.reserve(vocabulary_.size());
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    const std::string_view token = vocabulary_.token(id);
    if (!token.empty() && all_byte_chars(token)) words_.add(chars_to_bytes(token), id, {});
  }
}

int32_t Bpe::whole_word(std::string_view word) const { return by_bytes_ ? words_.find(word) : vocabulary_.find(word); }

void Bpe::tokenize_in_cuts(std::string_view word, std::vector<TokenId>& out) const {
  size_t begin = 0;
  char32_t before = decode_char(word, 0);
  for (size_t i = utf8_length(static_cast<unsigned char>(word[0])); i < word.size();) {
    const char32_t c = decode_char(word, i);
    if (!joints_->may_join(before, c)) {
      tokenize_uncut(word.substr(begin, i - begin), out);
      begin = i;
    }
    before = c;
    i += utf8_length(static_cast<unsigned char>(word[i]));
  }
  tokenize_uncut(word.substr(begin), out);
}

void Bpe::tokenize_uncut(std::string_view word, std::vector<TokenId>& out) const {
  if (ignore_merges_) {
    if (const int32_t id = whole_word(word); id >= 0) return out.push_back(TokenId(id));
  }
  if (cache_.find(word, out)) return;
  std::vector<int32_t> symbols = by_bytes_ ? byte_symbols(word) : char_symbols(word);
  merges_.apply(symbols);
  const size_t begin = out.size();
  for (const int32_t symbol : symbols) out.push_back(TokenId(symbol));
  cache_.store(word, std::span(out).subspan(begin));
}

std::vector<int32_t> Bpe::byte_symbols(std::string_view word) const {
  std::vector<int32_t> symbols(word.size());
  for (size_t i = 0; i < word.size(); ++i) symbols[i] = byte_ids_[static_cast<unsigned char>(word[i])];
  return symbols;
}

std::vector<int32_t> Bpe::char_symbols(std::string_view word) const {
  std::vector<int32_t> symbols;
  std::optional<int32_t> pending;  // an unknown token that the next unknown character may join
  const auto flush = [&] {
    if (pending) symbols.push_back(*pending);
    pending.reset();
  };
  for (size_t i = 0; i < word.size();) {
    const size_t end = i + utf8_length(static_cast<unsigned char>(word[i]));
    const std::string symbol = affixed(word.substr(i, end - i), i == 0, end == word.size());
    i = end;
    if (const int32_t id = vocabulary_.find(symbol); id >= 0) {
      flush();
      symbols.push_back(id);
    } else if (byte_fallback_ && append_fallback(symbol, symbols)) {
      continue;  // a pending unknown stays pending, as in `tokenizers`
    } else if (has_unknown_) {
      if (!fuse_unknown_) flush();
      pending = unknown();
    }
  }
  flush();
  return symbols;
}

bool Bpe::append_fallback(std::string_view symbol, std::vector<int32_t>& symbols) const {
  const auto id_of = [&](char b) { return byte_ids_[static_cast<unsigned char>(b)]; };
  for (const char b : symbol) {
    if (id_of(b) < 0) return false;
  }
  for (const char b : symbol) symbols.push_back(id_of(b));
  return true;
}

int32_t Bpe::unknown() const {
  if (unknown_ < 0)
    throw Error(Code::invalid_argument, "a character has no token, and unk_token is not in the vocabulary");
  return unknown_;
}

std::string Bpe::affixed(std::string_view c, bool first, bool last) const {
  std::string symbol = first ? std::string() : prefix_;
  symbol += c;
  if (last) symbol += suffix_;
  return symbol;
}
}  // namespace

std::unique_ptr<Model> parse_bpe(const JsonNode& node, bool words_are_bytes) {
  return std::make_unique<Bpe>(node, words_are_bytes);
}

}  // namespace genai
