// Template text → tokens: literal text, and the words inside {{ }} and {% %}.
//
// Whitespace as `transformers` sets it up: trim_blocks (a newline after a block or comment tag goes), lstrip_blocks
// (blanks before a block or comment tag at the start of a line go), `-` and `+` overriding both; one newline at the
// very end of the template goes. Errors: Error{invalid_argument} with where:line:column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace genai::jinja {

struct Place {
  int line = 1, column = 1;
};

struct Token {
  enum class Kind { text, output_begin, output_end, block_begin, block_end, name, integer, real, string, symbol, end };
  Kind kind;
  std::string text;  // literal text; a name; a number's digits; a string's value; a symbol ("==", "|", "(" …)
  Place place;
};

std::vector<Token> tokenize(std::string_view source, const std::string& where);

std::string place_text(const std::string& where, Place place);  // "where:line:column"

}  // namespace genai::jinja
