// The byte ↔ character table of byte-level BPE: every byte has a printable character ('A' ↔ 'A', ' ' ↔ 'Ġ').
//
// Threads: pure functions. Errors: none.
#pragma once

#include <string>
#include <string_view>

namespace genai {

char32_t byte_to_char(unsigned char byte);
int char_to_byte(char32_t c);  // -1: not one of the 256

std::string bytes_to_chars(std::string_view bytes);
// The bytes a token stands for; a token with any other character stands for its own UTF-8.
std::string chars_to_bytes(std::string_view token);
bool all_byte_chars(std::string_view token);

}  // namespace genai
