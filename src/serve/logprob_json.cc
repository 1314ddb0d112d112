#include "serve/logprob_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace genai::serve {
namespace {
constexpr float kLeastLogprob = -9999.0f;  // JSON has no infinity

float finite(float logprob) { return std::max(logprob, kLeastLogprob); }

Json entry(TokenId token, float logprob, const Tokenizer& tokenizer) {
  const std::string bytes = tokenizer.bytes_of(token, false);
  Json numbers = Json::array();
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return {{"token", bytes}, {"logprob", finite(logprob)}, {"bytes", numbers}};
}

int64_t characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}
}  // namespace

Json chat_logprob(const TokenLogprob& logprob, const Tokenizer& tokenizer) {
  Json json = entry(logprob.token, logprob.logprob, tokenizer);
  json["top_logprobs"] = Json::array();
  for (const TopLogprob& top : logprob.top) json["top_logprobs"].push_back(entry(top.token, top.logprob, tokenizer));
  return json;
}

void CompletionLogprobs::place(const std::string& text) {
  tokens_.push_back(text);
  offsets_.push_back(offset_);
  offset_ += characters(text);
}

void CompletionLogprobs::add(const TokenLogprob& logprob, const Tokenizer& tokenizer) {
  place(tokenizer.bytes_of(logprob.token, false));
  token_logprobs_.push_back(finite(logprob.logprob));
  Json top = Json::object();
  for (const TopLogprob& t : logprob.top) top[tokenizer.bytes_of(t.token, false)] = finite(t.logprob);
  top_.push_back(std::move(top));
}

void CompletionLogprobs::add_first(TokenId token, const Tokenizer& tokenizer) {
  place(tokenizer.bytes_of(token, true));
  token_logprobs_.push_back(nullptr);
  top_.push_back(nullptr);
}

Json CompletionLogprobs::take() {
  Json json = {{"tokens", std::move(tokens_)},
               {"token_logprobs", std::move(token_logprobs_)},
               {"top_logprobs", std::move(top_)},
               {"text_offset", std::move(offsets_)}};
  tokens_ = token_logprobs_ = top_ = offsets_ = Json::array();
  return json;
}

}  // namespace genai::serve
