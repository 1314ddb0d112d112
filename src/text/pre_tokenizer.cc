#include "text/pre_tokenizer.h"

#include "text/byte_level.h"
#include "text/pattern.h"
#include "text/splitter.h"
#include "text/unicode.h"

namespace genai {

namespace {
using Step = PreTokenizer::Step;
using Next = PreTokenizer::Next;

constexpr const char* kKinds =
    "ByteLevel, Split, Digits, Metaspace, Whitespace, WhitespaceSplit, Punctuation, CharDelimiterSplit, "
    "BertPreTokenizer, Sequence";
constexpr const char* kGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

Step split_at(Pattern pattern, Behavior behavior, bool invert) {
  return [pattern = std::move(pattern), behavior, invert](std::string_view piece, bool at_start, const Next& next) {
    Splitter splitter(piece, behavior, invert, at_start, next);
    pattern.each(piece, [&](size_t begin, size_t end) { splitter.match(begin, end); });
    splitter.finish();
  };
}

// Every character of the class is a separator of its own.
Step split_at_chars(bool (*separates)(char32_t), Behavior behavior) {
  return [separates, behavior](std::string_view piece, bool at_start, const Next& next) {
    Splitter splitter(piece, behavior, false, at_start, next);
    for (size_t i = 0; i < piece.size();) {
      const size_t end = i + utf8_length(static_cast<unsigned char>(piece[i]));
      if (separates(decode_char(piece, i))) splitter.match(i, end);
      i = end;
    }
    splitter.finish();
  };
}

// Words and runs of other visible characters: \w+|[^\w\s]+
void split_words(std::string_view piece, bool at_start, const Next& next) {
  enum class Kind { blank, word, other };
  const auto kind_at = [&](size_t i) {
    const char32_t c = decode_char(piece, i);
    return is_word(c) ? Kind::word : is_whitespace(c) ? Kind::blank : Kind::other;
  };
  for (size_t begin = 0; begin < piece.size();) {
    const Kind kind = kind_at(begin);
    size_t end = begin;
    do {
      end += utf8_length(static_cast<unsigned char>(piece[end]));
    } while (end < piece.size() && kind_at(end) == kind);
    if (kind != Kind::blank) next(piece.substr(begin, end - begin), at_start && begin == 0);
    begin = end;
  }
}

enum class Prepend { always, first, never };

Prepend parse_prepend(const JsonNode& node) {
  const std::string_view scheme =
      node.string("prepend_scheme", node.boolean("add_prefix_space", true) ? "always" : "never");
  if (scheme == "always") return Prepend::always;
  if (scheme == "first") return Prepend::first;
  if (scheme == "never") return Prepend::never;
  node.fail("prepend_scheme is '" + std::string(scheme) + "', expected always, first or never");
}

Step metaspace(const JsonNode& node) {
  const Pattern space(std::string(" "));
  return [space, mark = std::string(node.string("replacement", "\u2581")), prepend = parse_prepend(node),
          split = node.boolean("split", true)](std::string_view piece, bool at_start, const Next& next) {
    std::string text(piece);
    space.replace(text, mark);
    const bool wanted = prepend == Prepend::always || (prepend == Prepend::first && at_start);
    if (wanted && !text.starts_with(mark)) text.insert(0, mark);
    if (!split) return next(text, at_start);
    Splitter splitter(text, Behavior::merged_with_next, false, at_start, next);
    Pattern(mark).each(text, [&](size_t begin, size_t end) { splitter.match(begin, end); });
    splitter.finish();
  };
}

void write_byte_chars(std::string_view piece, bool at_start, const Next& next) {
  next(bytes_to_chars(piece), at_start);
}

void add_prefix_space(std::string_view piece, bool at_start, const Next& next) {
  if (piece.starts_with(' ')) return next(piece, at_start);
  next(" " + std::string(piece), at_start);
}
}  // namespace

Behavior parse_behavior(const JsonNode& node) {
  const std::string_view name = node.string();
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  node.unknown_kind("behavior", name, "Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
}

PreTokenizer PreTokenizer::parse(const JsonNode& node) {
  PreTokenizer pre;
  pre.append(node);
  return pre;
}

void PreTokenizer::append_byte_level(const JsonNode& node) {
  if (node.boolean("add_prefix_space", true)) steps_.push_back(add_prefix_space);
  if (node.boolean("use_regex", true)) {
    steps_.push_back(split_at(Pattern(Regex::compile(kGpt2, node.where())), Behavior::isolated, false));
  }
  yields_bytes_ = true;
}

void PreTokenizer::append(const JsonNode& node) {
  const std::string_view kind = node.string("type");
  if (kind == "Sequence") {
    size_t i = 0;
    const JsonNode list = node.at("pretokenizers");
    for (const auto item : list.array()) append(list.item(item, i++));
    return;
  }
  if (yields_bytes_) {  // a step behind ByteLevel sees its characters, not the bytes
    steps_.push_back(write_byte_chars);
    yields_bytes_ = false;
  }
  if (kind == "ByteLevel") {
    append_byte_level(node);
  } else if (kind == "Split") {
    steps_.push_back(split_at(Pattern::parse(node.at("pattern")), parse_behavior(node.at("behavior")),
                              node.boolean("invert", false)));
  } else if (kind == "Digits") {
    const bool alone = node.boolean("individual_digits", false);
    steps_.push_back(split_at_chars(is_numeric, alone ? Behavior::isolated : Behavior::contiguous));
  } else if (kind == "Metaspace") {
    steps_.push_back(metaspace(node));
  } else if (kind == "Whitespace") {
    steps_.push_back(split_words);
  } else if (kind == "WhitespaceSplit") {
    steps_.push_back(split_at_chars(is_whitespace, Behavior::removed));
  } else if (kind == "Punctuation") {
    const Behavior behavior = node.has("behavior") ? parse_behavior(node.at("behavior")) : Behavior::isolated;
    steps_.push_back(split_at_chars(is_punctuation, behavior));
  } else if (kind == "CharDelimiterSplit") {
    steps_.push_back(split_at(Pattern(std::string(node.string("delimiter"))), Behavior::removed, false));
  } else if (kind == "BertPreTokenizer") {
    steps_.push_back(split_at_chars(is_whitespace, Behavior::removed));
    steps_.push_back(split_at_chars(is_punctuation, Behavior::isolated));
  } else {
    node.unknown_kind("pre_tokenizer", kind, kKinds);
  }
}

void PreTokenizer::run(std::string_view text, bool at_start, const Word& word) const {
  if (!text.empty()) run_from(0, text, at_start, word);
}

void PreTokenizer::run_from(size_t step, std::string_view piece, bool at_start, const Word& word) const {
  if (step == steps_.size()) return word(piece);
  steps_[step](piece, at_start,
               [&, step](std::string_view next, bool starts) { run_from(step + 1, next, starts, word); });
}

}  // namespace genai
