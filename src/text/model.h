// The "model" of tokenizer.json: words → token ids.
//
// Threads: tokenize from any thread. Errors: parse_model throws Error naming key and supported kinds; tokenize throws
//          Error{invalid_argument} when a word has no token and the model names no unknown token.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "text/json_node.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace genai {

class Model {
 public:
  virtual ~Model() = default;
  virtual void tokenize(std::string_view word, std::vector<TokenId>& out) const = 0;  // valid UTF-8, not empty
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  Vocabulary vocabulary_;
};

// `words_are_bytes`: tokenize gets raw bytes, which the vocabulary writes as byte characters.
std::unique_ptr<Model> parse_model(const JsonNode& node, bool words_are_bytes);

std::unique_ptr<Model> parse_bpe(const JsonNode& node, bool words_are_bytes);
std::unique_ptr<Model> parse_word_level(const JsonNode& node);
std::unique_ptr<Model> parse_word_piece(const JsonNode& node);
std::unique_ptr<Model> parse_unigram(const JsonNode& node);

Vocabulary parse_vocabulary(const JsonNode& node);  // {"token": id, …}

}  // namespace genai
