// Dim ⇄ text: "64*T + 1".
#include <fmt/format.h>

#include <charconv>

#include "graph/dim.h"

namespace nxrt {
namespace {

bool begins_identifier(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_identifier(char c) { return begins_identifier(c) || is_digit(c) || c == '.'; }

std::string symbol_text(const std::string& name) {
  bool plain = !name.empty() && begins_identifier(name.front());
  for (const char c : name) plain = plain && continues_identifier(c);
  if (plain) return name;
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

// sum := ['-'] product {('+' | '-') product};  product := factor {'*' factor};  factor := number | symbol | '(' sum ')'
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  std::optional<Dim> all() {
    skip_spaces();
    if (text_ == "?") return Dim::unknown();
    auto dim = sum(0);
    if (!dim || at_ != text_.size()) return {};
    return dim;
  }

 private:
  static constexpr int kMaxDepth = 32;

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    skip_spaces();
    return true;
  }

  std::optional<Dim> sum(int depth) {
    const bool negative = take('-');
    auto total = product(depth);
    if (total && negative) total = Dim(0) - *total;
    while (total && (next() == '+' || next() == '-')) {
      const bool minus = next() == '-';
      take(next());
      const auto term = product(depth);
      if (!term) return {};
      total = minus ? *total - *term : *total + *term;
    }
    return known(total);
  }

  std::optional<Dim> product(int depth) {
    auto total = factor(depth);
    while (total && take('*')) {
      const auto other = factor(depth);
      if (!other) return {};
      total = *total * *other;
    }
    return known(total);
  }

  std::optional<Dim> factor(int depth) {
    if (depth > kMaxDepth) return {};
    if (take('(')) {
      auto inner = sum(depth + 1);
      return inner && take(')') ? inner : std::nullopt;
    }
    if (is_digit(next())) return number();
    if (next() == '\'') return quoted();
    return identifier();
  }

  std::optional<Dim> number() {
    int64_t value = 0;
    const char* end = text_.data() + text_.size();
    const auto result = std::from_chars(text_.data() + at_, end, value);
    if (result.ec != std::errc()) return {};
    at_ = static_cast<size_t>(result.ptr - text_.data());
    skip_spaces();
    return Dim(value);
  }

  std::optional<Dim> quoted() {
    std::string name;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != '\'') {
        name += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
        name += text_[at_++];
      } else {
        ++at_;
        skip_spaces();
        return Dim::symbol(name);
      }
    }
    return {};
  }

  std::optional<Dim> identifier() {
    if (!begins_identifier(next())) return {};
    const size_t start = at_;
    while (continues_identifier(next())) ++at_;
    const std::string name = text_.substr(start, at_ - start);
    skip_spaces();
    return Dim::symbol(name);
  }

  // A sum that overflowed is no polynomial we can hold.
  static std::optional<Dim> known(const std::optional<Dim>& dim) { return dim && dim->known() ? dim : std::nullopt; }

  const std::string& text_;
  size_t at_ = 0;
};

// The absolute value of a coefficient and its symbols: "64*T".
std::string term_text(const std::vector<std::string>& monomial, int64_t coefficient) {
  const uint64_t size = coefficient < 0 ? 0 - static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
  std::string text = size == 1 && !monomial.empty() ? "" : fmt::format("{}", size);
  for (const std::string& name : monomial) text += (text.empty() ? "" : "*") + symbol_text(name);
  return text;
}

}  // namespace

std::string Dim::text() const {
  if (!known_) return "?";
  if (terms_.empty()) return "0";
  std::string text;
  const auto append = [&text](const std::vector<std::string>& monomial, int64_t coefficient) {
    if (coefficient < 0) {
      text += text.empty() ? "-" : " - ";
    } else if (!text.empty()) {
      text += " + ";
    }
    text += term_text(monomial, coefficient);
  };
  for (const auto& [monomial, coefficient] : terms_) {
    if (!monomial.empty()) append(monomial, coefficient);
  }
  const auto free = terms_.find({});
  if (free != terms_.end()) append({}, free->second);  // constants read best at the end
  return text;
}

std::optional<Dim> Dim::parse(const std::string& text) { return Parser(text).all(); }

}  // namespace nxrt
