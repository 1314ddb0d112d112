// tokenizer.json files that are wrong, hostile or of a kind we don't support.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden_cases.h"
#include "text/tokenizer.h"

namespace genai {
namespace {
using testing::HasSubstr;

std::string complaint(const std::string& json) {
  try {
    Tokenizer::parse(json, "tokenizer.json");
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

std::string with_model(const std::string& model, const std::string& more = "") {
  return "{\"model\": " + model + more + "}";
}

const std::string kModel = R"({"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"})";

TEST(TokenizerErrors, NameFileKeyAndSupportedKinds) {
  EXPECT_THAT(complaint("{"), HasSubstr("is not valid JSON"));
  EXPECT_THAT(complaint("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(complaint("{}"), HasSubstr("key 'model' is missing"));
  EXPECT_THAT(complaint(with_model(R"({"type": "Neural"})")),
              HasSubstr("'Neural' is not supported, expected one of BPE"));
  for (const char* part : {"normalizer", "pre_tokenizer", "decoder", "post_processor"}) {
    const std::string text = complaint(with_model(kModel, fmt::format(R"(, "{}": {{"type": "Odd"}})", part)));
    EXPECT_THAT(text, HasSubstr(fmt::format("{} kind 'Odd' is not supported, expected one of", part)));
    EXPECT_THAT(text, HasSubstr(fmt::format("at   tokenizer.json > {}", part)));
  }
}

TEST(TokenizerErrors, RefusesBadVocabularies) {
  for (const char* id : {"-1", "8388608", "1e30", "\"x\"", "null", "99999999999999999999"}) {
    EXPECT_NE(complaint(with_model(fmt::format(R"({{"type": "WordLevel", "vocab": {{"a": {}}}}})", id))), "") << id;
  }
  const std::string gaps = with_model(R"({"type": "WordLevel", "vocab": {"a": 0, "a": 3, "b": 3}, "unk_token": "b"})");
  const auto tokenizer = Tokenizer::parse(gaps, "t");
  EXPECT_EQ(tokenizer->vocab_size(), 4);
  EXPECT_EQ(tokenizer->token(TokenId(1)), "");
  EXPECT_EQ(tokenizer->decode(std::vector{TokenId(3), TokenId(1)}, false), "b ");
}

TEST(TokenizerErrors, RefusesBadMerges) {
  const auto bpe = [](const char* merges) {
    return complaint(
        with_model(fmt::format(R"({{"type": "BPE", "vocab": {{"a": 0, "b": 1, "ab": 2}}, "merges": {}}})", merges)));
  };
  EXPECT_EQ(bpe(R"(["a b", ["a", "b"]])"), "");
  for (const char* bad : {R"(["ab"])", R"(["a b c"])", R"([["a"]])", R"([["a", 1]])", "[3]"}) {
    EXPECT_THAT(bpe(bad), HasSubstr("merge is not two tokens")) << bad;
    EXPECT_THAT(bpe(bad), HasSubstr("at   tokenizer.json > model > merges[0]")) << bad;
  }
  EXPECT_THAT(bpe(R"(["b a"])"), HasSubstr("'ba', which is not in the vocabulary"));
}

TEST(TokenizerErrors, CyclicMergesEnd) {
  // With the empty token a merge can make what it was made of.
  const std::string json = with_model(
      R"({"type": "BPE", "vocab": {"a": 0, "": 1, "b": 2, "ab": 0}, "merges": [["a", ""], ["", "a"], ["a", "b"], ["", ""]]})");
  const auto tokenizer = Tokenizer::parse(json, "t");
  EXPECT_FALSE(tokenizer->encode(std::string(10'000, 'a') + std::string(10'000, 'b')).empty());
}

TEST(TokenizerErrors, RefusesDropoutAndWhatNeedsTheWholeText) {
  EXPECT_THAT(complaint(with_model(R"({"type": "BPE", "dropout": 0.1, "vocab": {}, "merges": []})")),
              HasSubstr("dropout"));
  EXPECT_THAT(complaint(with_model(kModel, R"(, "decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"},
                                           {"type": "Strip", "content": " ", "start": 0, "stop": 1}]})")),
              HasSubstr("Strip behind Fuse"));
}

TEST(TokenizerErrors, RefusesTokensOutsideTheVocabulary) {
  EXPECT_THAT(complaint(with_model(
                  kModel, R"(, "post_processor": {"type": "BertProcessing", "sep": ["x", 7], "cls": ["a", 0]})")),
              HasSubstr("uses token id 7, expected less than 2"));
  EXPECT_THAT(
      complaint(with_model(kModel, R"(, "added_tokens": [{"id": 2, "content": ")" + std::string(5000, 'x') + "\"}]")),
      HasSubstr("expected at most 1024"));
}

TEST(TokenizerErrors, PatternsAreCheckedAndBounded) {
  const auto split = [](const std::string& regex) {
    return with_model(kModel, R"(, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": ")" + regex +
                                  R"("}, "behavior": "Isolated"})");
  };
  EXPECT_THAT(complaint(split("(a")), HasSubstr("pattern '(a' is not valid"));
  EXPECT_THAT(complaint(split("[a&&b]")), HasSubstr("class intersection"));
  EXPECT_THAT(complaint(split("[a[bc]]")), HasSubstr("a class inside a class"));
  const auto slow = Tokenizer::parse(split("(?:a|aa)+[bc]"), "t");
  EXPECT_THROW(slow->encode(std::string(300, 'a')), Error);
}

TEST(TokenizerErrors, EveryCutOfAFileIsAnErrorOrATokenizer) {
  const std::string json = test::golden_case("bert").tokenizer_json;
  for (size_t n = 0; n < json.size(); n += 7) EXPECT_NE(complaint(json.substr(0, n)), "");
  for (size_t n = 0; n < json.size(); n += 3) {  // one byte changed: parses or complains, never crashes
    std::string changed = json;
    changed[n] = changed[n] == '1' ? '9' : '1';
    complaint(changed);
  }
}

TEST(TokenizerErrors, DeepNestingIsRefused) {
  std::string deep = R"({"type": "Lowercase"})";
  for (int i = 0; i < 2000; ++i) deep = R"({"type": "Sequence", "normalizers": [)" + deep + "]}";
  EXPECT_NE(complaint(with_model(kModel, ", \"normalizer\": " + deep)), "");
}

}  // namespace
}  // namespace genai
