// tokenizer.json → token ids and back, exact to Hugging Face `tokenizers`.
//
//   auto tok = Tokenizer::open("models/smollm2/tokenizer.json");
//   std::vector<TokenId> ids = tok->encode("Hello", {.special_tokens = true});
//
// Threads: immutable after open (its word cache is internally synchronised); any thread.
// Errors:  open throws Error naming file, key and what kind is supported; encode of invalid UTF-8 throws
//          Error{invalid_argument} with the byte offset; decode of an id outside the vocabulary throws.
// Source:  the file format of the `tokenizers` library: added_tokens, normalizer, pre_tokenizer, model, post_processor,
//          decoder.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;
using TokenId = nxrt::Id<struct TokenTag>;

struct EncodeOptions {
  bool special_tokens = true;  // apply the post-processor (BOS, …)
  bool parse_special = true;   // recognise added special tokens written out in the text
};

class Tokenizer {
 public:
  static std::shared_ptr<const Tokenizer> open(const std::filesystem::path& tokenizer_json);
  static std::shared_ptr<const Tokenizer> parse(std::string_view json, const std::string& where);
  virtual ~Tokenizer() = default;

  virtual std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const = 0;
  virtual std::string decode(std::span<const TokenId> ids, bool skip_special_tokens) const = 0;
  virtual int vocab_size() const = 0;  // ids are [0, vocab_size), added tokens included
  virtual std::optional<TokenId> id_of(std::string_view token) const = 0;
  virtual std::string token(TokenId id) const = 0;  // as written in the vocabulary
  virtual bool is_special(TokenId id) const = 0;
  // The raw bytes this token contributes to the text (before UTF-8 repair), for detokenizer and constraints.
  // `first`: whether it starts the text (some decoders strip a leading space).
  virtual std::string bytes_of(TokenId id, bool first) const = 0;
};

}  // namespace genai
