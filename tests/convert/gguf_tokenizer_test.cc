#include "convert/gguf_tokenizer.h"

#include "convert/bpe_patterns.h"
#include "convert/fixtures.h"
#include "convert/tokenizer_json.h"

namespace genai {
namespace {

using nxrt::Code;
using test::error_of;

nlohmann::json json_of(const std::string& text) { return nlohmann::json::parse(text, nullptr, false); }

TEST(GgufTokenizer, RebuildsTheTokenizerTheFixtureWasMadeFrom) {
  const GgufTokenizer made = read_gguf_tokenizer(*GgufFile::open(test::tiny_gguf("q4_1")));
  const auto original = json_of(test::read_file(NXRT_SOURCE_DIR "/tests/fixtures/builder_llama_fp32/tokenizer.json"));
  const auto json = json_of(made.tokenizer_json);
  EXPECT_EQ(json["model"]["vocab"], original["model"]["vocab"]);
  ASSERT_EQ(json["model"]["merges"].size(), original["model"]["merges"].size());
  for (size_t i = 0; i < json["model"]["merges"].size(); ++i) {
    const auto& pair = original["model"]["merges"][i];
    EXPECT_EQ(json["model"]["merges"][i], pair[0].get<std::string>() + " " + pair[1].get<std::string>());
  }
  EXPECT_EQ(json["added_tokens"], original["added_tokens"]);
  EXPECT_EQ(json["pre_tokenizer"], original["pre_tokenizer"]);
  EXPECT_EQ(json["post_processor"], nullptr);
  EXPECT_EQ(made.bos, 0);
  EXPECT_EQ(made.end_ids, std::vector<int64_t>{1});
  EXPECT_EQ(made.eos_token, "<|end|>");
  EXPECT_TRUE(made.chat_templates.contains("default"));
}

TEST(GgufTokenizer, EveryPatternIsFoundByEachOfItsNames) {
  EXPECT_TRUE(find_bpe_pattern("smollm")->single_digits);
  EXPECT_TRUE(find_bpe_pattern("llama-bpe")->ignore_merges);
  EXPECT_TRUE(find_bpe_pattern("qwen2")->nfc);
  EXPECT_EQ(find_bpe_pattern("nonsense"), nullptr);
  EXPECT_NE(known_bpe_patterns().find("deepseek-v3"), std::string::npos);
}

TEST(TokenizerJson, PutsBosAndEosAround) {
  const Vocabulary vocabulary{
      {"<s>", "</s>", "a"}, {TokenKind::control, TokenKind::control, TokenKind::normal}, {}, {}};
  const TokenizerSettings settings{"t", find_bpe_pattern("gpt-2"), 0, 1, {}, true, true};
  const auto processor = json_of(byte_level_tokenizer_json(vocabulary, settings))["post_processor"];
  EXPECT_EQ(processor["type"], "TemplateProcessing");
  EXPECT_EQ(processor["single"].size(), 3u);
  EXPECT_EQ(processor["single"][0]["SpecialToken"]["id"], "<s>");
  EXPECT_EQ(processor["pair"].size(), 6u);
  EXPECT_EQ(processor["special_tokens"]["</s>"]["ids"], nlohmann::json::array({1}));
}

TEST(TokenizerJson, RebuildsMergesFromScores) {
  using K = TokenKind;
  const Vocabulary vocabulary{{"<unk>", "<0x41>", "a", "b", "ab", "aba"},
                              {K::unknown, K::byte, K::normal, K::normal, K::normal, K::normal},
                              {},
                              {0, 0, -1, -2, -0.5f, -3}};
  const TokenizerSettings settings{.where = "t", .unknown = 0, .adds_space_prefix = true};
  const auto json = json_of(sentencepiece_tokenizer_json(vocabulary, settings));
  EXPECT_EQ(json["model"]["merges"], (nlohmann::json::array({{"a", "b"}, {"ab", "a"}})));
  EXPECT_EQ(json["model"]["unk_token"], "<unk>");
  EXPECT_TRUE(json["model"]["byte_fallback"]);
  EXPECT_EQ(json["normalizer"]["normalizers"][0]["type"], "Prepend");
}

TEST(TokenizerJson, RefusesVocabulariesThatContradictThemselves) {
  const TokenizerSettings settings{.where = "t", .pattern = find_bpe_pattern("gpt-2")};
  const auto error = [&](std::vector<std::string_view> tokens, std::vector<std::string_view> merges) {
    Vocabulary vocabulary{std::move(tokens), {}, std::move(merges), {}};
    vocabulary.kinds.assign(vocabulary.tokens.size(), TokenKind::normal);
    return error_of([&] { byte_level_tokenizer_json(vocabulary, settings); });
  };
  EXPECT_EQ(error({"a", "a"}, {}).message(), "token 1 repeats token 0");
  EXPECT_EQ(error({"a", "b"}, {"a b"}).message(), "merge 0 does not join two tokens to a third");
  EXPECT_EQ(error({"a"}, {""}).code(), Code::corrupt);
  EXPECT_EQ(error({"a\xff"}, {}).message(), "a token is not valid UTF-8");
}

}  // namespace
}  // namespace genai
