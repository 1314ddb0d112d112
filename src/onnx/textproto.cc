#include "onnx/textproto.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "onnx/schema.h"
#include "onnx/wire_writer.h"

namespace nxrt::onnx {
namespace {

constexpr int kMaxDepth = 256;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
bool is_octal(char c) { return c >= '0' && c <= '7'; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class TextprotoParser {
 public:
  TextprotoParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  std::string model() {
    WireWriter out;
    fields(kModelProto, out, 0);
    if (peek() != '\0' || at_ < text_.size()) fail("the name of a field");
    return out.take();
  }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  char peek() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        return c;
      }
    }
    return '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::string_view word() {
    peek();
    const size_t start = at_;
    while (is_word(next())) ++at_;
    return text_.substr(start, at_ - start);
  }

  void fields(const MessageSchema& schema, WireWriter& out, int depth) {
    if (depth > kMaxDepth) refuse(fmt::format("messages are nested more than {} deep", kMaxDepth));
    while (is_word(peek())) {
      const size_t start = at_;
      const std::string_view name = word();
      const FieldSchema* field = schema.field(name);
      if (!field) {
        at_ = start;
        refuse(fmt::format("{} has no field '{}'", schema.name, name));
      }
      const bool colon = take(':');
      if (!colon && field->kind != FieldKind::message) fail("':'");
      if (take('[')) {
        list(*field, out, depth);
      } else {
        value(*field, out, depth);
      }
      if (!take(',')) take(';');
    }
  }

  void list(const FieldSchema& field, WireWriter& out, int depth) {
    if (take(']')) return;
    do {
      value(field, out, depth);
    } while (take(','));
    if (!take(']')) fail("',' or ']'");
  }

  void value(const FieldSchema& field, WireWriter& out, int depth) {
    switch (field.kind) {
      case FieldKind::integer: out.integer(field.number, integer()); break;
      case FieldKind::f32: out.f32(field.number, real<float>()); break;
      case FieldKind::f64: out.f64(field.number, real<double>()); break;
      case FieldKind::text: out.text(field.number, string()); break;
      case FieldKind::message: message(field, out, depth); break;
      case FieldKind::attribute_type:
      case FieldKind::data_location: out.integer(field.number, enumeration(field.kind)); break;
    }
  }

  void message(const FieldSchema& field, WireWriter& out, int depth) {
    const char close = take('<') ? '>' : take('{') ? '}' : '\0';
    if (close == '\0') fail("'{'");
    WireWriter inner;
    fields(*field.message, inner, depth + 1);
    if (!take(close)) fail(fmt::format("a field of {} or '{}'", field.message->name, close));
    out.message(field.number, inner);
  }

  int64_t enumeration(FieldKind kind) {
    const char c = peek();
    if (c >= '0' && c <= '9') return integer();
    const size_t start = at_;
    const int number = enumerator(kind, word());
    if (number >= 0) return number;
    at_ = start;
    fail("the name of an enumeration value");
  }

  int64_t integer() {
    const char first = peek();
    const size_t start = at_;
    const bool negative = first == '-';
    if (negative) ++at_;
    std::string_view digits = word();
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
      base = 16;
      digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits[0] == '0') {
      base = 8;
    }
    uint64_t size = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), size, base);
    const bool whole = result.ec == std::errc() && result.ptr == digits.data() + digits.size();
    if (!whole || (negative && size > uint64_t{1} << 63)) {
      at_ = start;
      fail("an integer");
    }
    return static_cast<int64_t>(negative ? 0 - size : size);
  }

  template <class T>
  T real() {
    peek();
    const size_t start = at_;
    if (next() == '-') ++at_;
    while (is_word(next()) || next() == '.' || ((next() == '-' || next() == '+') && (text_[at_ - 1] | 32) == 'e'))
      ++at_;
    std::string_view number = text_.substr(start, at_ - start);
    const bool suffixed = number.size() > 1 && (number.back() == 'f' || number.back() == 'F');
    if (suffixed && !number.ends_with("inf")) number.remove_suffix(1);
    T result{};
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), result);
    if (parsed.ec == std::errc() && parsed.ptr == number.data() + number.size()) return result;
    at_ = start;
    fail("a number");
  }

  // Adjacent strings are one.
  std::string string() {
    if (peek() != '"' && peek() != '\'') fail("a string");
    std::string all;
    while (peek() == '"' || peek() == '\'') append_string(all);
    return all;
  }

  void append_string(std::string& into) {
    const size_t start = at_;
    const char quote = text_[at_++];
    while (next() != quote) {
      if (at_ >= text_.size() || next() == '\n') {
        at_ = start;
        refuse("the string that begins here does not end");
      }
      if (next() == '\\') {
        into += escape();
      } else {
        into += text_[at_++];
      }
    }
    ++at_;
  }

  char escape() {
    ++at_;
    const char c = next();
    if (is_octal(c)) {
      int code = 0;
      for (int i = 0; i < 3 && is_octal(next()); ++i) code = code * 8 + (text_[at_++] - '0');
      return static_cast<char>(code);
    }
    if ((c == 'x' || c == 'X') && at_ + 1 < text_.size() && hex_value(text_[at_ + 1]) >= 0) {
      int code = 0;
      ++at_;
      for (int i = 0; i < 2 && hex_value(next()) >= 0; ++i) code = code * 16 + hex_value(text_[at_++]);
      return static_cast<char>(code);
    }
    static constexpr std::string_view kNames = "abfnrtv\\'\"?", kValues = "\a\b\f\n\r\t\v\\'\"?";
    const size_t known = c == '\0' ? std::string_view::npos : kNames.find(c);
    if (known == std::string_view::npos) refuse("unknown escape in a string");
    ++at_;
    return kValues[known];
  }

  [[noreturn]] void fail(const std::string& expected) {
    const char c = peek();
    refuse(fmt::format("found {}, expected {}", at_ >= text_.size() ? "the end" : fmt::format("'{}'", c), expected));
  }

  [[noreturn]] void refuse(const std::string& what) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    throw Error(Code::corrupt, what, fmt::format("{}:{}:{}", where_, line, before.size() - line_start + 1),
                "correct the file at this place");
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
};

}  // namespace

std::string textproto_to_wire(std::string_view text, const std::string& where) {
  return TextprotoParser(text, where).model();
}

}  // namespace nxrt::onnx
