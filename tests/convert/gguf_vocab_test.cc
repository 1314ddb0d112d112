// Published vocabularies, converted, against the token ids their makers' test vectors state.
#include <algorithm>

#include "convert/fixtures.h"
#include "convert/gguf_tokenizer.h"
#include "text/tokenizer.h"

namespace genai {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t at; (at = text.find(separator, from)) != std::string::npos; from = at + separator.size()) {
    parts.push_back(text.substr(from, at - from));
  }
  parts.push_back(text.substr(from));
  return parts;
}

std::string ids_text(const std::vector<TokenId>& ids) {
  std::string text;
  for (const TokenId id : ids) text += " " + std::to_string(id.value);
  return text;
}

class PublishedVocabulary : public testing::TestWithParam<const char*> {};

TEST_P(PublishedVocabulary, GivesTheStatedIds) {
  const fs::path folder = NXRT_SOURCE_DIR "/../shared/data/gguf_vocab";
  const fs::path file = folder / (std::string("ggml-vocab-") + GetParam() + ".gguf");
  if (!fs::exists(file)) GTEST_SKIP() << "needs " << file;
  const auto tokenizer = Tokenizer::parse(read_gguf_tokenizer(*GgufFile::open(file)).tokenizer_json, GetParam());
  const auto texts = split(test::read_file(file.string() + ".inp"), "\n__ggml_vocab_test__\n");
  const auto stated = split(test::read_file(file.string() + ".out"), "\n");
  ASSERT_GT(texts.size(), 40u);
  ASSERT_GE(stated.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(ids_text(tokenizer->encode(texts[i], {.special_tokens = false})), stated[i])
        << "text " << i << ": " << texts[i];
  }
}

INSTANTIATE_TEST_SUITE_P(, PublishedVocabulary,
                         testing::Values("deepseek-coder", "gpt-2", "llama-spm", "mpt", "phi-3", "refact", "starcoder"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace genai
