#include "graph/text_cursor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace nxrt {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return is_letter(c) || c == '_' || c == '/'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c) || c == '.' || c == ':' || c == '$' || c == '-'; }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

bool is_plain_name(std::string_view text) {
  return !text.empty() && begins_name(text.front()) && std::all_of(text.begin(), text.end(), continues_name) &&
         text.find("//") == std::string_view::npos;
}

std::string name_text(std::string_view name) { return is_plain_name(name) ? std::string(name) : quoted_text(name); }

std::string quoted_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

char TextCursor::peek() {
  while (at_ < text_.size()) {
    if (comment_at(at_)) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (is_space(text_[at_])) {
      ++at_;
    } else {
      return text_[at_];
    }
  }
  return '\0';
}

bool TextCursor::take(std::string_view token) {
  peek();
  if (text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

void TextCursor::expect(std::string_view token) {
  if (!take(token)) fail(fmt::format("'{}'", token));
}

bool TextCursor::at_name() {
  const char c = peek();
  return c == '"' || begins_name(c);
}

std::string TextCursor::name() {
  if (peek() == '"') return quoted();
  std::string plain = word();
  if (plain.empty()) fail("a name");
  return plain;
}

std::string TextCursor::word() {
  if (!begins_name(peek())) return {};
  const size_t start = at_;
  while (at_ < text_.size() && continues_name(text_[at_]) && !comment_at(at_)) ++at_;
  return std::string(text_.substr(start, at_ - start));
}

std::string TextCursor::quoted() {
  if (peek() != '"') fail("a string in double quotes");
  const size_t start = at_;
  std::string value;
  for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] != '\\') {
      value += text_[at_];
      continue;
    }
    const char escape = ++at_ < text_.size() ? text_[at_] : '\0';
    if (escape == '"' || escape == '\\') {
      value += escape;
    } else if (escape == 'n') {
      value += '\n';
    } else if (escape == 'x' && at_ + 2 < text_.size() && hex_digit(text_[at_ + 1]) >= 0 &&
               hex_digit(text_[at_ + 2]) >= 0) {
      value += static_cast<char>(hex_digit(text_[at_ + 1]) * 16 + hex_digit(text_[at_ + 2]));
      at_ += 2;
    } else {
      refuse("unknown escape in a string, expected \\\" \\\\ \\n or \\xhh");
    }
  }
  if (at_ >= text_.size()) {
    at_ = start;
    refuse("the string that begins here does not end");
  }
  ++at_;
  return value;
}

std::string TextCursor::number() {
  const char first = peek();
  const size_t start = at_;
  if (first == '-') ++at_;
  while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.' ||
                                ((text_[at_] == '-' || text_[at_] == '+') && text_[at_ - 1] == 'e'))) {
    if (text_.substr(at_, 3) == "...") break;  // "repeat the last element"
    ++at_;
  }
  if (at_ == start) fail("a number");
  return std::string(text_.substr(start, at_ - start));
}

std::string TextCursor::dim() {
  peek();
  const size_t start = at_;
  for (bool quoted = false; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\'') quoted = !quoted;
    if (!quoted && (text_[at_] == ',' || text_[at_] == ']')) break;
  }
  size_t end = at_;
  while (end > start && is_space(text_[end - 1])) --end;
  return std::string(text_.substr(start, end - start));
}

void TextCursor::fail(const std::string& expected) {
  const char c = peek();
  const std::string found = at_ >= text_.size() ? "the end" : quoted_text(std::string_view(&c, 1));
  refuse(fmt::format("found {}, expected {}", found, expected));
}

void TextCursor::refuse(const std::string& what) {
  const std::string_view before = text_.substr(0, std::min(at_, text_.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  throw Error(Code::invalid_argument, what, fmt::format("{}:{}:{}", where_, line, before.size() - line_start + 1));
}

}  // namespace nxrt
