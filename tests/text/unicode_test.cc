#include "text/unicode.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "text/normalizer.h"
#include "text/unicode_additions.h"

namespace genai {
namespace {

TEST(Unicode, EveryCharacterRoundTrips) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text = "x";
    append_char(text, c);
    ASSERT_EQ(decode_char(text, 1), c);
    ASSERT_EQ(last_char(text), c);
    ASSERT_EQ(last_char_length(text), text.size() - 1);
    ASSERT_EQ(utf8_length(static_cast<unsigned char>(text[1])), text.size() - 1);
    ASSERT_EQ(find_invalid_utf8(text), std::string::npos);
  }
}

TEST(Unicode, InvalidSequencesBecomeOneReplacementEach) {
  const struct {
    const char* bytes;
    const char* text;
    size_t open;
  } rows[] = {
      {"a\xFFz", "a\uFFFDz", 0},
      {"\xC0\xAF", "\uFFFD\uFFFD", 0},
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD", 0},
      {"\xE4\xBDz", "\uFFFDz", 0},
      {"\xF0\x9F\x98z", "\uFFFDz", 0},
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD", 0},
      {"ab\xE4\xBD", "ab", 2},
      {"\xF0\x9F\x98", "", 3},
      {"\xE0\x80\x80", "\uFFFD\uFFFD\uFFFD", 0},
      {"\xE4\xE4\xBD\xA0", "\uFFFD你", 0},
      {"\xC3\xF0\x9F", "\uFFFD", 2},
      {"\x80", "\uFFFD", 0},
  };
  for (const auto& row : rows) {
    std::string out;
    EXPECT_EQ(append_lossy(out, row.bytes), row.open) << row.text;
    EXPECT_EQ(out, row.text);
  }
}

TEST(Unicode, RepairIsIdempotent) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    std::string once, twice;
    const size_t open = append_lossy(once, bytes);
    RC_ASSERT(open <= 3);
    RC_ASSERT(find_invalid_utf8(once) == std::string::npos);
    RC_ASSERT(append_lossy(twice, once) == 0);
    RC_ASSERT(once == twice);
    if (find_invalid_utf8(bytes) == std::string::npos) RC_ASSERT(once == bytes);
  }));
}

TEST(Unicode, KnowsNewerCharacters) {
  EXPECT_STREQ(newer_category(0x31350), "Lo");  // CJK extension H, Unicode 15
  EXPECT_STREQ(newer_category(0x1C89), "Lu");   // Unicode 16
  EXPECT_EQ(newer_category('a'), nullptr);
  EXPECT_EQ(newer_category(0x10FFFF), nullptr);
  EXPECT_TRUE(has_newer_characters("a\U00031350"));
  EXPECT_FALSE(has_newer_characters("aé日本😀"));
  EXPECT_TRUE(is_numeric(0x1E4F0));  // Nag Mundari digit zero, Unicode 15
}

std::string normalized(std::string text, UnicodeForm form) {
  normalize_unicode(text, form);
  return text;
}

TEST(Unicode, NormalizesTheFourForms) {
  const std::string angstrom = "x\u212B\uFB01\u0323y";
  EXPECT_EQ(normalized(angstrom, UnicodeForm::nfc), "x\u00C5\uFB01\u0323y");
  EXPECT_EQ(normalized(angstrom, UnicodeForm::nfd), "xA\u030A\uFB01\u0323y");
  EXPECT_EQ(normalized(angstrom, UnicodeForm::nfkc), "x\u00C5f\u1ECBy");
  EXPECT_EQ(normalized(angstrom, UnicodeForm::nfkd), "xA\u030Afi\u0323y");
  EXPECT_EQ(normalized("a\u0301\u0323", UnicodeForm::nfc), "\u1EA1\u0301");  // marks are put in order first
  EXPECT_EQ(normalized("\u1112\u1161\u11AB", UnicodeForm::nfc), "\uD55C");
  EXPECT_EQ(normalized("\uD558\u11AB", UnicodeForm::nfc), "\uD55C");  // an inert syllable takes a final
  EXPECT_EQ(normalized("\u304B\u3099", UnicodeForm::nfc), "\u304C");
  EXPECT_EQ(normalized("a\u089A\u0ECA", UnicodeForm::nfc),
            "a\u089A\u0ECA");  // U+089A is newer than the reference's tables
}

}  // namespace
}  // namespace genai
