#include "text/normalizer.h"

#include "text/byte_level.h"
#include "text/pattern.h"
#include "text/unicode.h"

namespace genai {

namespace {
constexpr const char* kKinds =
    "NFC, NFD, NFKC, NFKD, Lowercase, Prepend, Replace, Strip, StripAccents, BertNormalizer, ByteLevel, Sequence";

bool is_ascii(std::string_view text) {
  for (const char b : text) {
    if (static_cast<unsigned char>(b) >= 0x80) return false;
  }
  return true;
}

void lowercase(std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); i += utf8_length(static_cast<unsigned char>(text[i]))) {
    append_lowercase(out, decode_char(text, i));
  }
  text = std::move(out);
}

void strip(std::string& text, bool left, bool right) {
  size_t begin = 0, end = text.size();
  while (left && begin < end && is_whitespace(decode_char(text, begin))) {
    begin += utf8_length(static_cast<unsigned char>(text[begin]));
  }
  while (right && end > begin && is_whitespace(last_char(std::string_view(text).substr(begin, end - begin)))) {
    end -= last_char_length(std::string_view(text).substr(begin, end - begin));
  }
  text = text.substr(begin, end - begin);
}

void remove_chars(std::string& text, bool (*unwanted)(char32_t)) {
  if (is_ascii(text)) return;
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(static_cast<unsigned char>(text[i]));
    if (!unwanted(decode_char(text, i))) out.append(text, i, length);
    i += length;
  }
  text = std::move(out);
}

bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

void clean(std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i += utf8_length(static_cast<unsigned char>(text[i]))) {
    const char32_t c = decode_char(text, i);
    if (c == 0 || is_control(c)) continue;
    if (is_whitespace(c)) {
      out.push_back(' ');
    } else {
      append_char(out, c);
    }
  }
  text = std::move(out);
}

void set_ideographs_apart(std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(static_cast<unsigned char>(text[i]));
    const bool apart = length >= 3 && is_ideograph(decode_char(text, i));
    if (apart) out.push_back(' ');
    out.append(text, i, length);
    if (apart) out.push_back(' ');
    i += length;
  }
  text = std::move(out);
}

}  // namespace

void BertNormalizer::operator()(std::string& text) const {
  if (clean_text) clean(text);
  if (chinese_chars) set_ideographs_apart(text);
  if (strip_accents) {
    normalize_unicode(text, UnicodeForm::nfd);
    remove_chars(text, is_nonspacing_mark);
  }
  if (lowercase) genai::lowercase(text);
}

Normalizer Normalizer::parse(const JsonNode& node) {
  Normalizer normalizer;
  normalizer.append(node);
  return normalizer;
}

void Normalizer::apply(std::string& text) const {
  for (const Step& step : steps_) step(text);
}

void Normalizer::append(const JsonNode& node) {
  const std::string_view kind = node.string("type");
  const auto unicode = [this](UnicodeForm form) {
    steps_.push_back([form](std::string& text) { normalize_unicode(text, form); });
  };
  if (kind == "Sequence") {
    size_t i = 0;
    const JsonNode list = node.at("normalizers");
    for (const auto item : list.array()) append(list.item(item, i++));
  } else if (kind == "NFC") {
    unicode(UnicodeForm::nfc);
  } else if (kind == "NFD") {
    unicode(UnicodeForm::nfd);
  } else if (kind == "NFKC") {
    unicode(UnicodeForm::nfkc);
  } else if (kind == "NFKD") {
    unicode(UnicodeForm::nfkd);
  } else if (kind == "Lowercase") {
    steps_.push_back(lowercase);
  } else if (kind == "StripAccents") {
    steps_.push_back([](std::string& text) { remove_chars(text, is_mark); });
  } else if (kind == "Strip") {
    steps_.push_back([left = node.boolean("strip_left", true),
                      right = node.boolean("strip_right", true)](std::string& text) { strip(text, left, right); });
  } else if (kind == "Prepend") {
    steps_.push_back([prefix = std::string(node.string("prepend"))](std::string& text) {
      if (!text.empty()) text.insert(0, prefix);
    });
  } else if (kind == "Replace") {
    steps_.push_back([pattern = Pattern::parse(node.at("pattern")), content = std::string(node.string("content"))](
                         std::string& text) { pattern.replace(text, content); });
  } else if (kind == "ByteLevel") {
    steps_.push_back([](std::string& text) { text = bytes_to_chars(text); });
  } else if (kind == "BertNormalizer") {
    const bool lower = node.boolean("lowercase", true);
    steps_.push_back(BertNormalizer{node.boolean("clean_text", true), node.boolean("handle_chinese_chars", true),
                                    node.boolean("strip_accents", lower), lower});
  } else {
    node.unknown_kind("normalizer", kind, kKinds);
  }
}

}  // namespace genai
