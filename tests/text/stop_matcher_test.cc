#include "text/stop_matcher.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/error.h"

namespace genai {
namespace {
struct Result {
  std::string text;
  int matched = -1;
  bool operator==(const Result&) const = default;
};

// The definition: the match that ends first, of those the one that starts first.
Result cut(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    Result best;
    for (size_t s = 0; s < stops.size(); ++s) {
      const bool ends = std::string_view(text).substr(0, end).ends_with(stops[s]);
      if (ends && (best.matched < 0 || stops[s].size() > stops[best.matched].size())) {
        best = {text.substr(0, end - stops[s].size()), static_cast<int>(s)};
      }
    }
    if (best.matched >= 0) return best;
  }
  return {text, -1};
}

size_t longest_open(const std::string& text, const std::vector<std::string>& stops) {
  size_t longest = 0;
  for (const auto& stop : stops) {
    for (size_t n = 1; n < stop.size() && n <= text.size(); ++n) {
      if (text.ends_with(stop.substr(0, n))) longest = std::max(longest, n);
    }
  }
  return longest;
}

std::string letters(size_t max) {
  return *rc::gen::scale(max / 100.0, rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c')));
}

TEST(StopMatcher, EqualsItsDefinitionForEverySplit) {
  EXPECT_TRUE(rc::check([] {
    std::vector<std::string> stops;
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) stops.push_back("a" + letters(6));
    const auto pieces =
        *rc::gen::container<std::vector<std::string>>(rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c')));
    StopMatcher matcher(stops);
    std::string all, out;
    for (const auto& piece : pieces) {
      all += piece;
      out += matcher.push(piece);
      if (!matcher.stopped()) RC_ASSERT(out.size() == all.size() - longest_open(all, stops));  // no more is held back
    }
    out += matcher.finish();
    RC_ASSERT((Result{out, matcher.matched()} == cut(all, stops)));
  }));
}

TEST(StopMatcher, ADeadPrefixIsDelivered) {
  StopMatcher matcher({"aab"});
  EXPECT_EQ(matcher.push("aa"), "");
  EXPECT_EQ(matcher.push("a"), "a");
  EXPECT_EQ(matcher.push("c"), "aac");
  EXPECT_EQ(matcher.push("aaab and more"), "a");
  EXPECT_EQ(matcher.matched(), 0);
  EXPECT_EQ(matcher.push("ignored"), "");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, FlushesAPartialMatchAtTheEnd) {
  StopMatcher matcher({"TREE"});
  EXPECT_EQ(matcher.push("a TRE"), "a ");
  EXPECT_EQ(matcher.finish(), "TRE");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, RefusesAnEmptyStop) { EXPECT_THROW(StopMatcher({"a", ""}), nxrt::Error); }

}  // namespace
}  // namespace genai
