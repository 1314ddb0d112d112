#include "text/regex.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace genai {
namespace {

std::vector<std::string> matches(const char* pattern, std::string_view text) {
  const Regex regex = Regex::compile(pattern, "t");
  std::vector<std::string> out;
  for (Matches m(regex, text); m.next();) out.emplace_back(text.substr(m.begin(), m.end() - m.begin()));
  return out;
}
using Strings = std::vector<std::string>;

TEST(Regex, FindsMatchesInOrder) {
  EXPECT_EQ(matches(R"(\p{L}+|\p{N})", "ab1 日本2"), (Strings{"ab", "1", "日本", "2"}));
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", "a   b "), (Strings{"  ", " ", " "}));
  EXPECT_EQ(matches("x*", "axxb"), (Strings{"", "xx", ""}));  // no empty match right behind a match
  EXPECT_EQ(matches("a", ""), Strings());
}

TEST(Regex, ReadsClassesAsTheReferenceDoes) {
  EXPECT_EQ(matches(R"(\s)", "\u180E\u0085\u3000\u200B"), (Strings{"\u0085", "\u3000"}));
  EXPECT_EQ(matches(R"([\s])", "\u180E\u2028"), Strings{"\u2028"});
  EXPECT_EQ(matches(R"(\w+)", "a\u0301²_Ⅷ-½ ⓐ"), (Strings{"a\u0301²_Ⅷ", "½", "ⓐ"}));
  EXPECT_EQ(matches(R"(\p{L}+)", "a\U00031350b\u1C89"), Strings{"a\U00031350b\u1C89"});  // Unicode 15 and 16
  EXPECT_EQ(matches(R"([^\p{L}]+)", "a\U00031350-b"), Strings{"-"});
  EXPECT_EQ(matches(R"(\P{L}+|\p{^N})", "a-\U00031350"), (Strings{"a", "-", "\U00031350"}));
  EXPECT_EQ(matches(R"(\h+)", "xDEADy"), Strings{"DEAD"});  // hexadecimal, as in Ruby
  EXPECT_EQ(matches("(?i:'s)", "'S'\u017F"), (Strings{"'S", "'\u017F"}));
  EXPECT_EQ(matches("^b$", "a\nb\nc"), Strings{"b"});
  EXPECT_EQ(matches(R"([]a]+|[^]a]+)", "b]a"), (Strings{"b", "]a"}));
}

TEST(Regex, LongTextsNeedNoDeepStack) {
  const std::string text(1 << 20, 'a');
  EXPECT_EQ(matches("(?:a|b)+", text).size(), 1u);
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", std::string(1 << 20, ' ') + "x").size(), 2u);
}

TEST(Regex, RefusesWhatItCantRead) {
  for (const char* bad : {"(", "[a", "a{2,1}", "\\p{Nonsense}", "[a&&b]", "[a[b]]", "\\", "(?<n>a)\\C"}) {
    EXPECT_THROW(Regex::compile(bad, "t"), nxrt::Error) << bad;
  }
  EXPECT_THROW(Regex::compile(std::string(1 << 20, 'a'), "t"), nxrt::Error);
}

}  // namespace
}  // namespace genai
