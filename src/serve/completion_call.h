// The body of POST /v1/completions, checked. Errors: ApiError{400} naming the field.
#pragma once

#include <variant>

#include "serve/chat_call.h"

namespace genai::serve {

struct CompletionCall {
  static CompletionCall parse(std::string_view body, const CallLimits& limits);

  using Prompt = std::variant<std::string, std::vector<TokenId>>;
  std::string model;
  std::vector<Prompt> prompts;  // at least one
  std::string session_id;
  std::optional<int> logprobs;  // top N
  bool echo = false;
  std::optional<SamplingFields> sampling;
};

std::vector<TokenId> read_token_ids(const Json& array, const std::string& path);

}  // namespace genai::serve
