// UTF-8 and character classes, the classes exactly as Hugging Face `tokenizers` has them.
//
// Threads: pure functions. Errors: none thrown; callers hand in valid UTF-8 except where said otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace genai {

// Bytes of the character that starts with `lead`, in valid UTF-8.
constexpr size_t utf8_length(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

char32_t decode_char(std::string_view text, size_t at);  // at: the first byte of a character
char32_t last_char(std::string_view text);               // of a non-empty text
size_t last_char_length(std::string_view text);          // bytes of the last character of a non-empty text
void append_char(std::string& out, char32_t c);
size_t count_chars(std::string_view text);

// Offset of the first byte that is not valid UTF-8, npos when all is.
size_t find_invalid_utf8(std::string_view text);

// Appends `bytes` with every maximal invalid sequence replaced by one U+FFFD. Returns how many bytes at the end are the
// beginning of a character that may still be completed; those are not appended.
size_t append_lossy(std::string& out, std::string_view bytes);

bool is_whitespace(char32_t c);  // White_Space
bool is_numeric(char32_t c);
bool is_punctuation(char32_t c);
bool is_mark(char32_t c);  // what StripAccents removes
bool is_nonspacing_mark(char32_t c);
bool is_control(char32_t c);  // what BertNormalizer's clean_text removes, besides NUL
bool is_word(char32_t c);     // \w: alphabetic, marks, decimal numbers, connectors, join controls
void append_lowercase(std::string& out, char32_t c);

}  // namespace genai
