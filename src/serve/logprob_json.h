// Logprobs in the two forms of the OpenAI API.
#pragma once

#include <nlohmann/json.hpp>

#include "gen/request.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace genai::serve {

// Chat: {"token","logprob","bytes","top_logprobs":[…]}. Bytes are the token's own, whatever they are as UTF-8.
Json chat_logprob(const TokenLogprob& logprob, const Tokenizer& tokenizer);

// Plain completions: parallel arrays; text_offset counts characters.
class CompletionLogprobs {
 public:
  void add(const TokenLogprob& logprob, const Tokenizer& tokenizer);
  void add_first(TokenId token, const Tokenizer& tokenizer);  // the first prompt token has no logprob
  Json take();                                                // what was added since the last take
  bool empty() const { return tokens_.empty(); }

 private:
  void place(const std::string& text);
  Json tokens_ = Json::array(), token_logprobs_ = Json::array(), top_ = Json::array(), offsets_ = Json::array();
  int64_t offset_ = 0;
};

}  // namespace genai::serve
