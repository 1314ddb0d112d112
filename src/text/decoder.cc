#include "text/decoder.h"

#include <fmt/core.h>

#include "text/byte_level.h"
#include "text/pattern.h"
#include "text/unicode.h"

namespace genai {

namespace {
constexpr const char* kKinds = "ByteLevel, Metaspace, ByteFallback, Fuse, Strip, Replace, WordPiece, Sequence";

// "<0xE4>" → the byte
void read_fallback(std::string& token, bool) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  const int high = digit(token[3]), low = digit(token[4]);
  if (high >= 0 && low >= 0) token.assign(1, static_cast<char>(high * 16 + low));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  Pattern(std::string(from)).replace(text, to);
}

// What English detokenization does; in this order.
void clean_up(std::string& token) {
  constexpr std::string_view kPairs[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                            {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                            {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kPairs) replace_all(token, from, to);
}

void strip(std::string& token, std::string_view content, int64_t start, int64_t stop) {
  size_t begin = 0, end = token.size();
  while (start-- > 0 && std::string_view(token).substr(begin).starts_with(content)) begin += content.size();
  while (stop-- > 0 && std::string_view(token).substr(begin, end - begin).ends_with(content)) end -= content.size();
  token = token.substr(begin, end - begin);
}
}  // namespace

Decoder Decoder::parse(const JsonNode& node) {
  Decoder decoder;
  decoder.space_between_ = false;
  decoder.append(node);
  return decoder;
}

std::string Decoder::bytes(std::string_view token, bool first) const {
  std::string out = space_between_ && !first ? " " : "";
  out += token;
  for (const Step& step : steps_) step(out, first);
  return out;
}

void Decoder::append_strip(const JsonNode& node) {
  const std::string content(node.string("content"));
  const int64_t start = node.integer("start", 0), stop = node.integer("stop", 0);
  if (content.empty() || start < 0 || stop < 0) node.fail("Strip needs a content and counts of 0 or more");
  if (!joined_) {
    steps_.push_back([=](std::string& token, bool) { strip(token, content, start, stop); });
    return;
  }
  if (start > 1 || stop > 0) {
    node.unsupported(fmt::format("Strip behind Fuse has start {} and stop {}, expected at most 1 and 0", start, stop));
  }
  steps_.push_back([=](std::string& token, bool first) {
    if (first) strip(token, content, start, 0);
  });
}

void Decoder::append(const JsonNode& node) {
  const std::string_view kind = node.string("type");
  if (kind == "Sequence") {
    size_t i = 0;
    const JsonNode list = node.at("decoders");
    for (const auto item : list.array()) append(list.item(item, i++));
    return;
  }
  if (kind == "Strip") return append_strip(node);
  if (kind == "Fuse") {
    joined_ = true;
    return;
  }
  if (joined_) node.unsupported(fmt::format("decoder '{}' behind Fuse or ByteLevel would need the whole text", kind));
  if (kind == "ByteLevel") {
    steps_.push_back([](std::string& token, bool) { token = chars_to_bytes(token); });
    joined_ = true;
  } else if (kind == "ByteFallback") {
    steps_.push_back(read_fallback);
  } else if (kind == "Replace") {
    steps_.push_back([pattern = Pattern::parse(node.at("pattern")), content = std::string(node.string("content"))](
                         std::string& token, bool) { pattern.replace(token, content); });
  } else if (kind == "Metaspace") {
    const bool keeps_first =
        node.string("prepend_scheme", node.boolean("add_prefix_space", true) ? "always" : "never") == "never";
    steps_.push_back(
        [mark = std::string(node.string("replacement", "\u2581")), keeps_first](std::string& token, bool first) {
          replace_all(token, mark, first && !keeps_first ? "" : " ");
        });
  } else if (kind == "WordPiece") {
    steps_.push_back([prefix = std::string(node.string("prefix", "##")), cleanup = node.boolean("cleanup", true)](
                         std::string& token, bool first) {
      if (!first && token.starts_with(prefix)) {
        token.erase(0, prefix.size());
      } else if (!first) {
        token.insert(0, " ");
      }
      if (cleanup) clean_up(token);
    });
  } else {
    node.unknown_kind("decoder", kind, kKinds);
  }
}

}  // namespace genai
