// A tokenizer made of the parts of tokenizer.json: added tokens → normalizer → pre-tokenizer → model → post-processor.
//
// Threads, Errors: as Tokenizer says.
#pragma once

#include "text/added_tokens.h"
#include "text/decoder.h"
#include "text/model.h"
#include "text/normalizer.h"
#include "text/post_processor.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"

namespace genai {

class HfTokenizer : public Tokenizer {
 public:
  explicit HfTokenizer(const JsonNode& root);

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const override;
  std::string decode(std::span<const TokenId> ids, bool skip_special_tokens) const override;
  int vocab_size() const override;
  std::optional<TokenId> id_of(std::string_view token) const override;
  std::string token(TokenId id) const override;
  bool is_special(TokenId id) const override;
  std::string bytes_of(TokenId id, bool first) const override;

 private:
  void encode_piece(std::string_view piece, bool at_start, const EncodeOptions& options,
                    std::vector<TokenId>& out) const;
  std::string_view text_of(TokenId id) const;  // throws for an id outside the vocabulary; empty for a gap

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  std::unique_ptr<Model> model_;
  AddedTokens added_;
  PostProcessor post_processor_;
  Decoder decoder_;
};

}  // namespace genai
