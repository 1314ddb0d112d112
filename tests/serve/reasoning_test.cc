#include "serve/reasoning.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace genai::serve {
namespace {

SplitText split(const std::vector<std::string>& pieces, bool inside = false) {
  ReasoningSplitter splitter("<think>", "</think>", inside);
  SplitText all;
  for (const std::string& piece : pieces) {
    const SplitText now = splitter.push(piece);
    all.reasoning += now.reasoning;
    all.content += now.content;
  }
  const SplitText rest = splitter.finish();
  return {all.reasoning + rest.reasoning, all.content + rest.content};
}

void expect_split(const std::vector<std::string>& pieces, const std::string& reasoning, const std::string& content,
                  bool inside = false) {
  const SplitText got = split(pieces, inside);
  EXPECT_EQ(got.reasoning, reasoning);
  EXPECT_EQ(got.content, content);
}

TEST(ReasoningSplitter, Splits) {
  expect_split({"<think>\na b\n</think>\n\nc d"}, "a b", "c d");
  expect_split({"<thi", "nk>a", "</th", "ink>", "b"}, "a", "b");
  expect_split({"a</think>b"}, "a", "b", true);
  expect_split({"no marker"}, "", "no marker");
  expect_split({"<think"}, "", "<think");            // held back, then delivered
  expect_split({"<think>a</thin"}, "a</thin", "");   // the same inside
  expect_split({"a <think> b"}, "", "a <think> b");  // reasoning stands first or nowhere
  expect_split({"<think></think>x"}, "", "x");
}

TEST(ReasoningSplitter, NothingCertainIsHeldBack) {
  ReasoningSplitter splitter("<think>", "</think>", true);
  EXPECT_EQ(splitter.push("abc").reasoning, "abc");
  EXPECT_EQ(splitter.push("d</").reasoning, "d");
  EXPECT_EQ(splitter.push("x").reasoning, "</x");
}

TEST(ReasoningSplitter, CutsDontMatter) {
  EXPECT_TRUE(rc::check("the parts don't depend on the cuts", [] {
    const auto words = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("<think>", "</think>", "<", "/", "think", ">", " ", "\n", "a", "bc"));
    std::string text;
    for (const std::string& word : words) text += word;
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t length = *rc::gen::inRange<size_t>(1, 5);
      pieces.push_back(text.substr(at, length));
      at += length;
    }
    const bool inside = *rc::gen::arbitrary<bool>();
    const SplitText cut = split(pieces, inside), whole = split({text}, inside);
    RC_ASSERT(cut.reasoning == whole.reasoning);
    RC_ASSERT(cut.content == whole.content);
  }));
}

}  // namespace
}  // namespace genai::serve
