// Against Hugging Face `tokenizers`, one small tokenizer per kind of part (tests/golden/text).
#include "text/tokenizer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <thread>

#include "golden_cases.h"
#include "text/unicode.h"

namespace genai {
namespace {
using test::golden_case;
using test::golden_cases;

std::vector<int> values(const std::vector<TokenId>& ids) {
  std::vector<int> out;
  for (const TokenId id : ids) out.push_back(id.value);
  return out;
}

TEST(Tokenizer, IdsEqualTheReference) {
  ASSERT_GE(golden_cases().size(), 40u);
  for (const auto& c : golden_cases()) {
    const auto tokenizer = Tokenizer::parse(c.tokenizer_json, c.name);
    for (const auto& row : c.rows) {
      SCOPED_TRACE(c.name + ": '" + row.text + "'");
      EXPECT_EQ(values(tokenizer->encode(row.text)), values(row.ids));
      EXPECT_EQ(values(tokenizer->encode(row.text, {.special_tokens = false})), values(row.plain_ids));
      EXPECT_EQ(values(tokenizer->encode(row.text, {.special_tokens = false, .parse_special = false})),
                values(row.unparsed_ids));
    }
  }
}

TEST(Tokenizer, TextEqualsTheReference) {
  for (const auto& c : golden_cases()) {
    const auto tokenizer = Tokenizer::parse(c.tokenizer_json, c.name);
    for (const auto& row : c.rows) {
      SCOPED_TRACE(c.name + ": '" + row.text + "'");
      EXPECT_EQ(tokenizer->decode(row.ids, false), row.decoded);
      EXPECT_EQ(tokenizer->decode(row.ids, true), row.decoded_plain);
    }
  }
}

TEST(Tokenizer, ByteLevelRoundTripsAnyText) {
  const auto tokenizer = Tokenizer::parse(golden_case("gpt2").tokenizer_json, "gpt2");
  EXPECT_TRUE(rc::check([&](const std::vector<uint32_t>& chars) {
    std::string text;
    for (const uint32_t c : chars) {
      const char32_t valid = c % 0x110000;
      if (valid < 0xD800 || valid > 0xDFFF) append_char(text, valid);
    }
    RC_ASSERT(tokenizer->decode(tokenizer->encode(text, {.parse_special = false}), false) == text);
  }));
}

TEST(Tokenizer, KnowsItsTokens) {
  const auto tokenizer = Tokenizer::parse(golden_case("gpt2").tokenizer_json, "gpt2");
  const TokenId mask = tokenizer->id_of("<mask>").value();
  EXPECT_TRUE(tokenizer->is_special(mask));
  EXPECT_EQ(tokenizer->token(mask), "<mask>");
  EXPECT_EQ(tokenizer->bytes_of(mask, false), "<mask>");
  const TokenId space = tokenizer->id_of("Ġ").value();
  EXPECT_FALSE(tokenizer->is_special(space));
  EXPECT_EQ(tokenizer->bytes_of(space, true), " ");
  EXPECT_FALSE(tokenizer->id_of("no such token").has_value());
  for (int id = 0; id < tokenizer->vocab_size(); ++id) EXPECT_FALSE(tokenizer->token(TokenId(id)).empty()) << id;
}

TEST(Tokenizer, RefusesInvalidTextAndIds) {
  const auto tokenizer = Tokenizer::parse(golden_case("gpt2").tokenizer_json, "gpt2");
  try {
    tokenizer->encode("abc\xE4\xBD");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "text is not valid UTF-8 at byte 3");
  }
  for (const int id : {-1, tokenizer->vocab_size(), 1 << 30}) {
    EXPECT_THROW(tokenizer->decode(std::vector{TokenId(id)}, false), Error);
    EXPECT_THROW(tokenizer->token(TokenId(id)), Error);
    EXPECT_THROW(tokenizer->bytes_of(TokenId(id), true), Error);
    EXPECT_FALSE(tokenizer->is_special(TokenId(id)));
  }
}

TEST(Tokenizer, LongWordsAreNotQuadratic) {
  const auto start = std::chrono::steady_clock::now();
  for (const char* name : {"gpt2", "gemma", "metaspace always True", "unigram True", "bert"}) {
    const auto tokenizer = Tokenizer::parse(golden_case(name).tokenizer_json, name);
    for (const char* unit : {"a", " ", "\n", "1", "<", "語"}) {
      std::string text;
      while (text.size() < 200'000) text += unit;
      EXPECT_FALSE(tokenizer->encode(text).empty() && *unit != ' ' && *unit != '\n');
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));  // quadratic: many minutes
}

TEST(Tokenizer, ThreadsShareItsCache) {
  const auto& c = golden_case("llama3");
  const auto tokenizer = Tokenizer::parse(c.tokenizer_json, c.name);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 10; ++repeat) {
        for (const auto& row : c.rows) wrong[t] += tokenizer->encode(row.text) != row.ids;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace genai
