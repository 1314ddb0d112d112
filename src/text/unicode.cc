#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>

namespace genai {

namespace {
constexpr bool is_continuation(unsigned char b) { return (b & 0xC0) == 0x80; }

// How many bytes at `at` form a valid character (> 0), or how many form the longest invalid prefix (< 0, negated).
// `open` tells that the invalid prefix is cut off by the end of the text.
int classify(std::string_view s, size_t at, bool& open) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[at + i]); };
  const unsigned char lead = byte(0);
  open = false;
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return -1;
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and everything past U+10FFFF.
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (int i = 1; i < length; ++i) {
    if (at + i >= s.size()) {
      open = true;
      return -i;
    }
    if (i == 1 ? byte(1) < low || byte(1) > high : !is_continuation(byte(i))) return -i;
  }
  return length;
}

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

struct Range {
  char32_t first, last;
};
struct Shift {
  char32_t first, last;
  int32_t by;
};
#include "text/char_exceptions.inc"

// The range that holds c, or null. Ranges ascend.
template <class Row, size_t n>
const Row* find_range(const Row (&rows)[n], char32_t c) {
  const Row* row = std::lower_bound(rows, rows + n, c, [](const Row& r, char32_t value) { return r.last < value; });
  return row != rows + n && row->first <= c ? row : nullptr;
}

template <size_t n>
bool flipped(bool in_class, const Range (&exceptions)[n], char32_t c) {
  return in_class != (c >= 0x80 && find_range(exceptions, c));
}
}  // namespace

char32_t decode_char(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  switch (utf8_length(lead)) {
    case 1: return lead;
    case 2: return (lead & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    case 3: return (lead & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    default: return (lead & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu);
  }
}

size_t last_char_length(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && is_continuation(static_cast<unsigned char>(text[text.size() - length]))) ++length;
  return length;
}

char32_t last_char(std::string_view text) { return decode_char(text, text.size() - last_char_length(text)); }

void append_char(std::string& out, char32_t c) {
  const auto put = [&](char32_t b) { out.push_back(static_cast<char>(b)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xE0 | c >> 12);
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
    }
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

size_t count_chars(std::string_view text) {
  size_t n = 0;
  for (const char b : text) n += !is_continuation(static_cast<unsigned char>(b));
  return n;
}

size_t find_invalid_utf8(std::string_view text) {
  bool open = false;
  for (size_t i = 0; i < text.size();) {
    const int length = classify(text, i, open);
    if (length < 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

size_t append_lossy(std::string& out, std::string_view bytes) {
  bool open = false;
  for (size_t i = 0; i < bytes.size();) {
    const int length = classify(bytes, i, open);
    if (open) return bytes.size() - i;
    if (length > 0) {
      out.append(bytes, i, length);
    } else {
      out.append("\xEF\xBF\xBD");
    }
    i += length > 0 ? length : -length;
  }
  return 0;
}

bool is_whitespace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_numeric(char32_t c) {
  const auto k = category(c);
  return flipped(k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO, kNumericExceptions, c);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  const auto k = category(c);
  return flipped(k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO, kPunctuationExceptions, c);
}

bool is_mark(char32_t c) {
  const auto k = category(c);
  return flipped(k >= UTF8PROC_CATEGORY_MN && k <= UTF8PROC_CATEGORY_ME, kMarkExceptions, c);
}

bool is_nonspacing_mark(char32_t c) {
  return flipped(category(c) == UTF8PROC_CATEGORY_MN, kNonspacingMarkExceptions, c);
}

bool is_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  const auto k = category(c);
  const bool other = k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_CO;
  return flipped(other || c == 0xFFFD, kOtherExceptions, c);
}

bool is_word(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  const auto k = category(c);
  const bool letter = k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_NL;  // letters, marks, Nd, Nl
  // Other_Alphabetic beyond letters and marks: the circled and squared Latin letters.
  const bool symbol_letter = (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
                             (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  return flipped(letter || k == UTF8PROC_CATEGORY_PC || symbol_letter || c == 0x200C || c == 0x200D, kWordExceptions,
                 c);
}

void append_lowercase(std::string& out, char32_t c) {
  if (c == 0x130) {  // the one character whose lower case is two
    out.append("i\xCC\x87");
  } else if (const Shift* shift = c < 0x80 ? nullptr : find_range(kLowercaseExceptions, c)) {
    append_char(out, c + shift->by);
  } else {
    append_char(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

}  // namespace genai
