#include "text/byte_level.h"

#include <array>

#include "text/unicode.h"

namespace genai {

namespace {
// Printable Latin-1 bytes stand for themselves; the 68 others take U+0100, U+0101, … in order.
constexpr bool is_printable(int b) { return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE; }

constexpr auto kChars = [] {
  std::array<char32_t, 256> chars{};
  char32_t next = 0x100;
  for (int b = 0; b < 256; ++b) chars[b] = is_printable(b) ? static_cast<char32_t>(b) : next++;
  return chars;
}();

constexpr auto kBytes = [] {
  std::array<int16_t, 0x144> bytes{};
  bytes.fill(-1);
  for (int b = 0; b < 256; ++b) bytes[kChars[b]] = static_cast<int16_t>(b);
  return bytes;
}();
}  // namespace

char32_t byte_to_char(unsigned char byte) { return kChars[byte]; }

int char_to_byte(char32_t c) { return c < kBytes.size() ? kBytes[c] : -1; }

std::string bytes_to_chars(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char b : bytes) append_char(out, byte_to_char(static_cast<unsigned char>(b)));
  return out;
}

bool all_byte_chars(std::string_view token) {
  for (size_t i = 0; i < token.size(); i += utf8_length(static_cast<unsigned char>(token[i]))) {
    if (char_to_byte(decode_char(token, i)) < 0) return false;
  }
  return true;
}

std::string chars_to_bytes(std::string_view token) {
  if (!all_byte_chars(token)) return std::string(token);
  std::string out;
  for (size_t i = 0; i < token.size(); i += utf8_length(static_cast<unsigned char>(token[i]))) {
    out.push_back(static_cast<char>(char_to_byte(decode_char(token, i))));
  }
  return out;
}

}  // namespace genai
