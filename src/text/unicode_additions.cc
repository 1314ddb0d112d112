#include "text/unicode_additions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "text/unicode.h"

namespace genai {

namespace {
struct Range {
  char32_t first, last;
  const char* category;
};

constexpr Range kRanges[] = {
#include "text/unicode_additions.inc"
};

constexpr char32_t kPageBits = 8;

// Which pages of 256 characters hold any: nearly every character of a text is answered here.
constexpr auto kPages = [] {
  std::array<bool, (0x110000 >> kPageBits)> pages{};
  for (const Range& r : kRanges) {
    for (char32_t p = r.first >> kPageBits; p <= r.last >> kPageBits; ++p) pages[p] = true;
  }
  return pages;
}();
}  // namespace

const char* newer_category(char32_t c) {
  if (!kPages[c >> kPageBits]) return nullptr;
  const auto* range =
      std::find_if(std::begin(kRanges), std::end(kRanges), [c](const Range& r) { return r.first <= c && c <= r.last; });
  return range == std::end(kRanges) ? nullptr : range->category;
}

bool has_newer_characters(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead >= 0xE0 && newer_category(decode_char(text, i))) return true;  // none is below U+0800
    i += utf8_length(lead);
  }
  return false;
}

std::string newer_members(std::string_view category) {
  std::string out;
  for (const Range& r : kRanges) {
    if (!std::string_view(r.category).starts_with(category)) continue;
    out += fmt::format("\\x{{{:X}}}", static_cast<uint32_t>(r.first));
    if (r.last != r.first) out += fmt::format("-\\x{{{:X}}}", static_cast<uint32_t>(r.last));
  }
  return out;
}

}  // namespace genai
