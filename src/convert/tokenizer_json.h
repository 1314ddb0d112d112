// Vocabulary → text of a tokenizer.json, as the `tokenizers` library writes it.
//
// Threads: pure functions. Errors: Error{corrupt} at `settings.where` for a vocabulary that such a file cannot hold (a
// token twice, a merge of unknown tokens, text that is not UTF-8). Source: the file format of the `tokenizers` library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/bpe_patterns.h"

namespace genai {

enum class TokenKind : uint8_t { normal, unknown, control, user_defined, byte };

struct Vocabulary {
  std::vector<std::string_view> tokens;  // by id
  std::vector<TokenKind> kinds;          // by id
  std::vector<std::string_view> merges;  // "left right", best first (byte level)
  std::vector<float> scores;             // by id (SentencePiece)
};

struct TokenizerSettings {
  std::string where;
  const BpePattern* pattern = nullptr;  // byte level
  std::optional<int64_t> bos, eos, unknown;
  bool adds_bos = false, adds_eos = false;
  bool adds_space_prefix = false;  // SentencePiece
};

std::string byte_level_tokenizer_json(const Vocabulary& vocabulary, const TokenizerSettings& settings);
std::string sentencepiece_tokenizer_json(const Vocabulary& vocabulary, const TokenizerSettings& settings);

}  // namespace genai
