#include "text/detokenizer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "golden_cases.h"
#include "text/unicode.h"

namespace genai {
namespace {
using test::golden_case;

std::string stream(const std::shared_ptr<const Tokenizer>& tokenizer, const std::vector<TokenId>& ids, bool skip) {
  Detokenizer detokenizer(tokenizer, skip);
  std::string out;
  for (const TokenId id : ids) {
    const std::string piece = detokenizer.push(id);
    EXPECT_EQ(find_invalid_utf8(piece), std::string::npos);
    out += piece;
  }
  return out + detokenizer.finish();
}

TEST(Detokenizer, PiecesJoinToTheDecodeOfTheWhole) {
  for (const auto& c : test::golden_cases()) {
    const auto tokenizer = Tokenizer::parse(c.tokenizer_json, c.name);
    const auto any_id = rc::gen::inRange(0, tokenizer->vocab_size());
    EXPECT_TRUE(rc::check(c.name, [&] {
      std::vector<TokenId> ids;
      for (const int id : *rc::gen::container<std::vector<int>>(any_id)) ids.emplace_back(id);
      for (const bool skip : {false, true}) RC_ASSERT(stream(tokenizer, ids, skip) == tokenizer->decode(ids, skip));
    }));
  }
}

TEST(Detokenizer, HoldsBackACharacterStillArriving) {
  const auto tokenizer = Tokenizer::parse(golden_case("gpt2").tokenizer_json, "gpt2");
  Detokenizer detokenizer(tokenizer, true);
  const auto byte = [&](const char* c) { return tokenizer->id_of(c).value(); };
  EXPECT_EQ(detokenizer.push(byte("A")), "A");
  EXPECT_EQ(detokenizer.push(byte("ð")), "");  // F0 9F 98 80
  EXPECT_EQ(detokenizer.push(byte("Ł")), "");
  EXPECT_EQ(detokenizer.push(byte("ĺ")), "");
  EXPECT_EQ(detokenizer.push(byte("Ģ")), "😀");
  EXPECT_EQ(detokenizer.push(byte("ð")), "");
  EXPECT_EQ(detokenizer.push(byte("B")), "\uFFFDB");  // it can't be completed any more
  EXPECT_EQ(detokenizer.push(byte("Ł")), "\uFFFD");   // a continuation byte alone
  EXPECT_EQ(detokenizer.push(byte("ð")), "");
  EXPECT_EQ(detokenizer.finish(), "\uFFFD");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, ReadsByteFallback) {
  const auto tokenizer = Tokenizer::parse(golden_case("llama2").tokenizer_json, "llama2");
  Detokenizer detokenizer(tokenizer, true);
  const auto id = [&](const char* token) { return tokenizer->id_of(token).value(); };
  EXPECT_EQ(detokenizer.push(id("▁hello")), "hello");  // the first space is stripped
  EXPECT_EQ(detokenizer.push(id("▁hello")), " hello");
  EXPECT_EQ(detokenizer.push(id("<0xC3>")), "");
  EXPECT_EQ(detokenizer.push(id("<0xA9>")), "é");
  EXPECT_EQ(detokenizer.push(id("<0xFF>")), "\uFFFD");
}

TEST(Detokenizer, RefusesIdsOutsideTheVocabulary) {
  const auto tokenizer = Tokenizer::parse(golden_case("gpt2").tokenizer_json, "gpt2");
  Detokenizer detokenizer(tokenizer, true);
  EXPECT_THROW(detokenizer.push(TokenId(tokenizer->vocab_size())), Error);
  EXPECT_THROW(detokenizer.push(TokenId(-1)), Error);
}

}  // namespace
}  // namespace genai
