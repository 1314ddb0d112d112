// Reads the graph text form character by character and knows the line and column for errors.
//
// Errors: every expect…/name/quoted/number throws Error{invalid_argument} at `where:line:column`.
#pragma once

#include <string>
#include <string_view>

namespace nxrt {

bool is_plain_name(std::string_view text);       // needs no quotes
std::string name_text(std::string_view name);    // quoted when it has to be
std::string quoted_text(std::string_view text);  // "…" with escapes

class TextCursor {
 public:
  TextCursor(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

  char peek();  // the next character that is neither space nor comment; '\0' at the end
  bool take(std::string_view token);
  void expect(std::string_view token);
  bool at_name();                                       // a plain or quoted name comes next
  std::string name();                                   // plain or quoted
  std::string word();                                   // plain; "" when none comes next
  std::string quoted();                                 // "…"
  std::string number();                                 // the characters of a number, inf and nan included
  std::string dim();                                    // the characters up to ',' or ']', quotes respected
  [[noreturn]] void fail(const std::string& expected);  // "found …, expected …"
  [[noreturn]] void refuse(const std::string& what);

  size_t position() const { return at_; }
  void rewind(size_t position) { at_ = position; }

 private:
  bool comment_at(size_t i) const { return text_.substr(i, 2) == "//"; }

  std::string_view text_;
  std::string where_;
  size_t at_ = 0;
};

}  // namespace nxrt
