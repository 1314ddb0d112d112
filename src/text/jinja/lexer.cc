#include "text/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"

namespace genai::jinja {
namespace {

constexpr auto kSymbols =
    std::to_array<std::string_view>({"==", "!=", "<=", ">=", "**", "//", "(", ")", "[", "]", "{", "}", ",",
                                     ":",  ".",  "|",  "~",  "+",  "-",  "*", "/", "%", "<", ">", "="});

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool goes_on_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)); }

class Lexer {
 public:
  Lexer(std::string source, const std::string& where) : source_(std::move(source)), where_(where) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      const size_t tag = next_tag();
      emit_text(tag);
      if (tag == std::string::npos) break;
      move_to(tag);
      if (source_[at_ + 1] == '#')
        comment();
      else
        inside(source_[at_ + 1] == '%');
    }
    tokens_.push_back({Token::Kind::end, "", place_});
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void error(const std::string& message, Place place) const {
    throw nxrt::Error(nxrt::Code::invalid_argument, message, place_text(where_, place));
  }

  size_t next_tag() const {
    for (size_t i = at_; (i = source_.find('{', i)) != std::string::npos && i + 1 < source_.size(); ++i) {
      if (source_[i + 1] == '{' || source_[i + 1] == '%' || source_[i + 1] == '#') return i;
    }
    return std::string::npos;
  }

  void move_to(size_t to) {
    for (; at_ < to; ++at_) {
      if (source_[at_] == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if ((static_cast<unsigned char>(source_[at_]) & 0xc0) != 0x80) {
        ++place_.column;
      }
    }
  }

  // The literal text up to `tag`, less what the tag in front of it and the tag behind it take away.
  void emit_text(size_t tag) {
    size_t begin = at_, end = std::min(tag, source_.size());
    if (strip_after_) {
      while (begin < end && is_space(source_[begin])) ++begin;
    } else if (trim_newline_ && begin < end && source_[begin] == '\n') {
      ++begin;
    }
    if (tag != std::string::npos) end = text_end(begin, tag);
    if (begin < end) tokens_.push_back({Token::Kind::text, source_.substr(begin, end - begin), place_});
    strip_after_ = trim_newline_ = false;
  }

  size_t text_end(size_t begin, size_t tag) const {
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    size_t end = tag;
    if (sign == '-') {
      while (end > begin && is_space(source_[end - 1])) --end;
      return end;
    }
    if (sign == '+' || source_[tag + 1] == '{') return end;
    size_t line = tag;  // lstrip_blocks: only blanks between the start of the line and the tag
    while (line > begin && is_blank(source_[line - 1])) --line;
    const bool at_line_start = line == 0 || source_[line - 1] == '\n';
    return at_line_start ? line : end;
  }

  void comment() {
    const size_t end = source_.find("#}", at_ + 2);
    if (end == std::string::npos) error("a comment is not closed, expected #}", place_);
    strip_after_ = source_[end - 1] == '-' && end - 1 >= at_ + 2;
    trim_newline_ = source_[end - 1] != '+';
    move_to(end + 2);
  }

  void inside(bool block) {
    const Place begin = place_;
    tokens_.push_back({block ? Token::Kind::block_begin : Token::Kind::output_begin, "", begin});
    move_to(at_ + 2);
    if (at_ < source_.size() && (source_[at_] == '-' || source_[at_] == '+')) move_to(at_ + 1);
    const std::string close = block ? "%}" : "}}";
    int open = 0;  // brackets, so that }} inside a dict literal doesn't close
    for (;;) {
      while (at_ < source_.size() && is_space(source_[at_])) move_to(at_ + 1);
      if (at_ >= source_.size()) error("a tag is not closed, expected " + close, begin);
      if (open == 0 && closes(block, close)) break;
      word(open);
    }
    if (block && is_raw()) raw();
  }

  // At `%}`, `-%}` or `+%}`: consumes it and notes what it does to the text behind it.
  bool closes(bool block, const std::string& close) {
    const bool sign = source_[at_] == '-' || (block && source_[at_] == '+');
    const size_t at = at_ + (sign ? 1 : 0);
    if (source_.compare(at, 2, close) != 0) return false;
    strip_after_ = source_[at_] == '-';
    trim_newline_ = block && source_[at_] != '+';
    tokens_.push_back({block ? Token::Kind::block_end : Token::Kind::output_end, "", place_});
    move_to(at + 2);
    return true;
  }

  void word(int& open) {
    const char c = source_[at_];
    if (begins_name(c)) return name();
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (c == '"' || c == '\'') return string(c);
    const auto symbol =
        std::ranges::find_if(kSymbols, [&](std::string_view s) { return source_.compare(at_, s.size(), s) == 0; });
    if (symbol == kSymbols.end()) error(std::string("unexpected character '") + c + "'", place_);
    if (*symbol == "(" || *symbol == "[" || *symbol == "{") ++open;
    if (*symbol == ")" || *symbol == "]" || *symbol == "}") {
      if (--open < 0) error("unexpected '" + std::string(*symbol) + "'", place_);
    }
    tokens_.push_back({Token::Kind::symbol, std::string(*symbol), place_});
    move_to(at_ + symbol->size());
  }

  void name() {
    size_t end = at_;
    while (end < source_.size() && goes_on_name(source_[end])) ++end;
    tokens_.push_back({Token::Kind::name, source_.substr(at_, end - at_), place_});
    move_to(end);
  }

  void number() {
    size_t end = at_;
    bool real = false;
    const auto digit = [&](size_t i) {
      return i < source_.size() && (std::isdigit(static_cast<unsigned char>(source_[i])) || source_[i] == '_');
    };
    while (digit(end)) ++end;
    if (end < source_.size() && source_[end] == '.' && digit(end + 1)) {
      real = true;
      for (++end; digit(end);) ++end;
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const size_t sign = end + 1 < source_.size() && (source_[end + 1] == '-' || source_[end + 1] == '+') ? 1 : 0;
      if (digit(end + 1 + sign)) {
        real = true;
        for (end += 1 + sign; digit(end);) ++end;
      }
    }
    std::string text = source_.substr(at_, end - at_);
    std::erase(text, '_');
    tokens_.push_back({real ? Token::Kind::real : Token::Kind::integer, std::move(text), place_});
    move_to(end);
  }

  void string(char quote) {
    const Place begin = place_;
    std::string text;
    size_t i = at_ + 1;
    for (; i < source_.size() && source_[i] != quote; ++i) {
      if (source_[i] != '\\' || i + 1 >= source_.size()) {
        text += source_[i];
      } else {
        i = escape(i + 1, text);
      }
    }
    if (i >= source_.size()) error("a string is not closed", begin);
    tokens_.push_back({Token::Kind::string, std::move(text), begin});
    move_to(i + 1);
  }

  // Python's escapes; returns the position of the escape's last character.
  size_t escape(size_t i, std::string& text) const {
    const char c = source_[i];
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits && i + digits < source_.size()) {
      const std::string hex = source_.substr(i + 1, digits);
      if (std::ranges::all_of(hex, [](unsigned char h) { return std::isxdigit(h); })) {
        append_utf8(static_cast<uint32_t>(std::stoul(hex, nullptr, 16)), text);
        return i + digits;
      }
    }
    switch (c) {
      case 'n': text += '\n'; break;
      case 't': text += '\t'; break;
      case 'r': text += '\r'; break;
      case 'b': text += '\b'; break;
      case 'f': text += '\f'; break;
      case 'v': text += '\v'; break;
      case 'a': text += '\a'; break;
      case '0': text += '\0'; break;
      case '\n': break;
      case '\\':
      case '\'':
      case '"': text += c; break;
      default: text += '\\'; text += c;
    }
    return i;
  }

  static void append_utf8(uint32_t c, std::string& text) {
    if (c < 0x80) {
      text += static_cast<char>(c);
    } else if (c < 0x800) {
      text += static_cast<char>(0xc0 | (c >> 6));
      text += static_cast<char>(0x80 | (c & 63));
    } else if (c < 0x10000) {
      text += static_cast<char>(0xe0 | (c >> 12));
      text += static_cast<char>(0x80 | ((c >> 6) & 63));
      text += static_cast<char>(0x80 | (c & 63));
    } else {
      text += static_cast<char>(0xf0 | ((c >> 18) & 7));
      text += static_cast<char>(0x80 | ((c >> 12) & 63));
      text += static_cast<char>(0x80 | ((c >> 6) & 63));
      text += static_cast<char>(0x80 | (c & 63));
    }
  }

  bool is_raw() const {
    const size_t n = tokens_.size();
    return n >= 3 && tokens_[n - 2].kind == Token::Kind::name && tokens_[n - 2].text == "raw" &&
           tokens_[n - 3].kind == Token::Kind::block_begin;
  }

  // {% raw %} … {% endraw %}: everything between is text.
  void raw() {
    const Place begin = tokens_.back().place;
    tokens_.resize(tokens_.size() - 3);
    size_t tag = at_;
    size_t end = std::string::npos;
    for (; (tag = source_.find("{%", tag)) != std::string::npos; tag += 2) {
      size_t word = tag + 2;
      while (word < source_.size() && (is_space(source_[word]) || source_[word] == '-' || source_[word] == '+')) ++word;
      if (source_.compare(word, 6, "endraw") != 0) continue;
      end = source_.find("%}", word);
      break;
    }
    if (end == std::string::npos) error("raw is not closed, expected {% endraw %}", begin);
    emit_text(tag);
    strip_after_ = source_[end - 1] == '-';
    trim_newline_ = source_[end - 1] != '+';
    move_to(end + 2);
  }

  std::string source_;
  const std::string& where_;
  size_t at_ = 0;
  Place place_;
  bool strip_after_ = false, trim_newline_ = false;
  std::vector<Token> tokens_;
};

// Every line end is \n, and one at the very end goes.
std::string normalized(std::string_view source) {
  std::string text;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      if (i + 1 < source.size() && source[i + 1] == '\n') continue;
      text += '\n';
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

std::vector<Token> tokenize(std::string_view source, const std::string& where) {
  return Lexer(normalized(source), where).run();
}

std::string place_text(const std::string& where, Place place) {
  return where + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

}  // namespace genai::jinja
