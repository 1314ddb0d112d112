#include "convert/gguf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "convert/tokenizer_json.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {

TokenKind kind_of(int64_t number) {
  switch (number) {
    case 2: return TokenKind::unknown;
    case 3: return TokenKind::control;
    case 4: return TokenKind::user_defined;
    case 6: return TokenKind::byte;
    default: return TokenKind::normal;  // unused tokens are plain vocabulary
  }
}

void expect_count(const GgufFile& file, const char* key, size_t count, size_t tokens) {
  if (count == tokens) return;
  throw Error(Code::corrupt, fmt::format("the array has {} elements, expected one per token: {}", count, tokens),
              file.place_of_key(key));
}

Vocabulary read_vocabulary(const GgufFile& file) {
  Vocabulary vocabulary;
  vocabulary.tokens = file.texts("tokenizer.ggml.tokens");
  const size_t count = vocabulary.tokens.size();
  if (count == 0 || count > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw Error(Code::corrupt, fmt::format("the vocabulary has {} tokens", count),
                file.place_of_key("tokenizer.ggml.tokens"), "use a GGUF file that contains its tokenizer");
  }
  vocabulary.kinds.assign(count, TokenKind::normal);
  if (file.has("tokenizer.ggml.token_type")) {
    const std::vector<int64_t> types = file.integers("tokenizer.ggml.token_type");
    expect_count(file, "tokenizer.ggml.token_type", types.size(), count);
    for (size_t i = 0; i < count; ++i) vocabulary.kinds[i] = kind_of(types[i]);
  }
  vocabulary.merges = file.texts("tokenizer.ggml.merges");
  vocabulary.scores = file.reals("tokenizer.ggml.scores");
  if (!vocabulary.scores.empty()) expect_count(file, "tokenizer.ggml.scores", vocabulary.scores.size(), count);
  if (std::any_of(vocabulary.scores.begin(), vocabulary.scores.end(), [](float s) { return std::isnan(s); })) {
    throw Error(Code::corrupt, "a score is not a number", file.place_of_key("tokenizer.ggml.scores"));
  }
  return vocabulary;
}

std::optional<int64_t> token_id(const GgufFile& file, const std::string& key, size_t vocab_size) {
  const std::optional<int64_t> id = file.integer(key);
  if (!id || *id == 0xffffffff || *id == -1) return std::nullopt;  // both are written for "none"
  if (*id >= 0 && *id < static_cast<int64_t>(vocab_size)) return id;
  throw Error(Code::corrupt, fmt::format("the token id is {}, expected 0 to {}", *id, vocab_size - 1),
              file.place_of_key(key));
}

void read_special_ids(const GgufFile& file, const Vocabulary& vocabulary, GgufTokenizer& out) {
  const auto id = [&](const char* name) {
    return token_id(file, fmt::format("tokenizer.ggml.{}_token_id", name), vocabulary.tokens.size());
  };
  const auto text = [&](std::optional<int64_t> of) {
    return of ? std::string(vocabulary.tokens[static_cast<size_t>(*of)]) : std::string();
  };
  out.bos = id("bos");
  out.eos = id("eos");
  out.pad = id("padding");
  out.unknown = id("unknown");
  out.bos_token = text(out.bos);
  out.eos_token = text(out.eos);
  out.pad_token = text(out.pad);
  out.unknown_token = text(out.unknown);
  for (const std::optional<int64_t>& end : {out.eos, id("eot"), id("eom")}) {
    if (end && std::find(out.end_ids.begin(), out.end_ids.end(), *end) == out.end_ids.end())
      out.end_ids.push_back(*end);
  }
}

void read_chat_templates(const GgufFile& file, GgufTokenizer& out) {
  if (const auto only = file.text("tokenizer.chat_template")) out.chat_templates["default"] = *only;
  for (const std::string_view name : file.texts("tokenizer.chat_templates")) {
    if (const auto named = file.text(fmt::format("tokenizer.chat_template.{}", name))) {
      out.chat_templates[std::string(name)] = *named;
    }
  }
}

std::string byte_level_json(const GgufFile& file, const Vocabulary& vocabulary, TokenizerSettings settings) {
  const std::string pre(file.text("tokenizer.ggml.pre").value_or("default"));
  settings.pattern = find_bpe_pattern(pre);
  if (!settings.pattern) {
    throw Error(Code::unsupported,
                fmt::format("the pre-tokenizer is '{}', expected one of {}", pre, known_bpe_patterns()),
                file.place_of_key("tokenizer.ggml.pre"), "import the Hugging Face folder of the model instead");
  }
  settings.adds_bos = file.boolean("tokenizer.ggml.add_bos_token").value_or(settings.pattern->adds_bos);
  return byte_level_tokenizer_json(vocabulary, settings);
}

std::string sentencepiece_json(const GgufFile& file, const Vocabulary& vocabulary, TokenizerSettings settings) {
  settings.adds_bos = file.boolean("tokenizer.ggml.add_bos_token").value_or(true);
  settings.adds_space_prefix = file.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  return sentencepiece_tokenizer_json(vocabulary, settings);
}

}  // namespace

GgufTokenizer read_gguf_tokenizer(const GgufFile& file) {
  const Vocabulary vocabulary = read_vocabulary(file);
  GgufTokenizer out;
  out.vocab_size = static_cast<int>(vocabulary.tokens.size());
  read_special_ids(file, vocabulary, out);
  read_chat_templates(file, out);

  TokenizerSettings settings;
  settings.where = file.place_of_key("tokenizer.ggml.tokens");
  settings.bos = out.bos;
  settings.eos = out.eos;
  settings.unknown = out.unknown;
  settings.adds_eos = file.boolean("tokenizer.ggml.add_eos_token").value_or(false);
  const std::string model(file.text("tokenizer.ggml.model").value_or(""));
  if (const auto whole = file.text("tokenizer.huggingface.json")) {
    out.tokenizer_json = *whole;
  } else if (model == "gpt2") {
    out.tokenizer_json = byte_level_json(file, vocabulary, settings);
  } else if (model == "llama") {
    out.tokenizer_json = sentencepiece_json(file, vocabulary, settings);
  } else {
    throw Error(Code::unsupported, fmt::format("the tokenizer is '{}', expected gpt2 or llama", model),
                file.place_of_key("tokenizer.ggml.model"), "import the Hugging Face folder of the model instead");
  }
  return out;
}

}  // namespace genai
