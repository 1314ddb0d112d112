#include "serve/completion_call.h"

#include <fmt/format.h>

#include <algorithm>

namespace genai::serve {
namespace {
constexpr size_t kMaxPrompts = 2048;
constexpr int64_t kDefaultMaxTokens = 16;  // as the original route

bool holds_numbers(const Json& array) {
  return !array.empty() && std::ranges::all_of(array, [](const Json& item) { return item.is_number(); });
}

std::vector<CompletionCall::Prompt> read_prompts(const Json& prompt) {
  if (prompt.is_string()) return {prompt.get<std::string>()};
  if (!prompt.is_array() || prompt.empty() || prompt.size() > kMaxPrompts) {
    if (!(prompt.is_array() && holds_numbers(prompt))) {
      throw ApiError::bad_request(
          "prompt", fmt::format("prompt is {}, expected a text, an array of token ids, or an array of 1 to {} of those",
                                shown(prompt), kMaxPrompts));
    }
  }
  if (holds_numbers(prompt)) return {read_token_ids(prompt, "prompt")};
  std::vector<CompletionCall::Prompt> prompts;
  for (size_t i = 0; i < prompt.size(); ++i) {
    const std::string path = fmt::format("prompt[{}]", i);
    if (prompt[i].is_string()) {
      prompts.emplace_back(prompt[i].get<std::string>());
    } else {
      prompts.emplace_back(read_token_ids(prompt[i], path));
    }
  }
  return prompts;
}
}  // namespace

std::vector<TokenId> read_token_ids(const Json& array, const std::string& path) {
  std::vector<TokenId> ids;
  const bool good = array.is_array() && std::ranges::all_of(array, [](const Json& item) {
                      return item.is_number_integer() && item.get<int64_t>() >= 0 && item.get<int64_t>() <= INT32_MAX;
                    });
  if (!good) {
    throw ApiError::bad_request(path,
                                fmt::format("{} is {}, expected a text or an array of token ids", path, shown(array)));
  }
  for (const Json& item : array) ids.emplace_back(item.get<int32_t>());
  return ids;
}

CompletionCall CompletionCall::parse(std::string_view body, const CallLimits& limits) {
  const Json json = body_object(body);
  Fields fields(json);
  CompletionCall call;
  call.model = fields.text("model").value_or("");
  call.prompts = read_prompts(fields.required("prompt", "a text"));
  call.session_id = fields.text("session_id").value_or("");
  call.echo = fields.boolean("echo").value_or(false);
  if (const auto top = fields.integer("logprobs", 0, 20)) call.logprobs = static_cast<int>(*top);
  if (const Json* suffix = fields.find("suffix"); suffix != nullptr && *suffix != Json("")) {
    throw ApiError::unsupported("suffix", "suffix is not supported by this server: leave it out");
  }
  call.sampling.emplace(fields, limits.max_output_tokens, call.echo ? 0 : 1);  // echo alone scores the prompt
  const int64_t best_of = fields.integer("best_of", 1, 1024).value_or(call.sampling->n);
  if (best_of != call.sampling->n) {
    throw ApiError::unsupported("best_of",
                                fmt::format("best_of is {}, expected n, which is {}", best_of, call.sampling->n));
  }
  if (!json.contains("max_tokens") || json["max_tokens"].is_null()) {
    if (fields.find("max_completion_tokens") == nullptr) {
      const int cap = limits.max_output_tokens > 0 ? limits.max_output_tokens : INT32_MAX;
      call.sampling->max_tokens = static_cast<int>(std::min<int64_t>(kDefaultMaxTokens, cap));
    }
  }
  if (const Json* format = fields.find("response_format"); format != nullptr && *format != Json({{"type", "text"}})) {
    throw ApiError::unsupported("response_format", "response_format is not supported by this server yet: leave it out");
  }
  for (const char* unused : {"user", "metadata"}) fields.find(unused);
  if (limits.strict) fields.refuse_unread();
  return call;
}

}  // namespace genai::serve
