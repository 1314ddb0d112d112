// Characters whose general category is newer than the tables of PCRE2 10.42 (Unicode 14); up to
// Unicode 16, which Hugging Face `tokenizers` uses.
//
// Threads: pure functions. Errors: none.
#pragma once

#include <string>
#include <string_view>

namespace genai {

const char* newer_category(char32_t c);  // "Lu", …; nullptr: not newer
bool has_newer_characters(std::string_view valid_utf8);
// Regex class members, "\x{1C89}\x{10D50}-\x{10D65}…", whose category begins with `category` ("L", "Lu").
std::string newer_members(std::string_view category);

}  // namespace genai
