// NFC, NFD, NFKC, NFKD through utf8proc, which is asked only about the stretches that can change.
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "text/normalizer.h"
#include "text/unicode.h"

namespace genai {

namespace {
struct Range {
  char32_t first, last;
};

// Newer than the tables `tokenizers` normalizes with: there they neither decompose nor move.
constexpr Range kUnknown[] = {
#include "text/normalization_limits.inc"
};

bool is_unknown(char32_t c) {
  const auto* range = std::lower_bound(std::begin(kUnknown), std::end(kUnknown), c,
                                       [](const Range& r, char32_t value) { return r.last < value; });
  return range != std::end(kUnknown) && range->first <= c;
}

// Characters that stay as they are in `form` and never combine with what stands before them. Not all of them: the
// common ones, so that most text is copied without being looked up.
bool is_inert(char32_t c, UnicodeForm form) {
  if (c < 0x80) return true;
  if (form != UnicodeForm::nfc) return is_unknown(c);
  return c < 0x300 || (c >= 0x410 && c <= 0x44F) || (c >= 0x621 && c <= 0x64A) || (c >= 0x2010 && c <= 0x2027) ||
         (c >= 0x3041 && c <= 0x3096) || (c >= 0x30A1 && c <= 0x30FA) || (c >= 0x3400 && c <= 0x9FFF) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xFF01 && c <= 0xFF5E) || (c >= 0x1F300 && c <= 0x1FAFF) ||
         is_unknown(c);
}

utf8proc_option_t options_of(UnicodeForm form) {
  switch (form) {
    case UnicodeForm::nfc: return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    case UnicodeForm::nfd: return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
    case UnicodeForm::nfkc: return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    default: return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  }
}

void append_normalized(std::string& out, std::string_view part, UnicodeForm form) {
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(part.data()),
                                             static_cast<utf8proc_ssize_t>(part.size()), &result, options_of(form));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, std::free);
  if (size < 0) {  // only a length past utf8proc's own limit
    out.append(part);
  } else {
    out.append(reinterpret_cast<const char*>(result), static_cast<size_t>(size));
  }
}
}  // namespace

void normalize_unicode(std::string& text, UnicodeForm form) {
  const auto length = [&](size_t i) { return utf8_length(static_cast<unsigned char>(text[i])); };
  std::string out;
  size_t done = 0;   // text before it is in `out`
  size_t start = 0;  // the last inert character: what follows may combine with it
  for (size_t i = 0; i < text.size();) {
    const char32_t c = decode_char(text, i);
    if (is_inert(c, form)) {
      start = is_unknown(c) ? i + length(i) : i;
      i += length(i);
      continue;
    }
    size_t end = i;
    while (end < text.size() && !is_inert(decode_char(text, end), form)) end += length(end);
    out.append(text, done, start - done);
    append_normalized(out, std::string_view(text).substr(start, end - start), form);
    done = start = i = end;
  }
  if (done == 0) return;
  out.append(text, done);
  text = std::move(out);
}

}  // namespace genai
