// POST /detokenize: {"tokens", "model", "skip_special_tokens"} → {"content"}
#include <fmt/format.h>

#include "serve/completion_call.h"
#include "serve/dispatch.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  const Json body = body_object(http.body);
  Fields fields(body);
  const std::shared_ptr<ServedModel> model = server.models().get(fields.text("model").value_or(""));
  const std::vector<TokenId> ids = read_token_ids(fields.required("tokens", "an array of token ids"), "tokens");
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].value < model->tokenizer->vocab_size()) continue;
    const std::string path = fmt::format("tokens[{}]", i);
    throw ApiError::bad_request(
        path, fmt::format("{} is {}, expected 0 to {}", path, ids[i].value, model->tokenizer->vocab_size() - 1));
  }
  const bool skip = fields.boolean("skip_special_tokens").value_or(false);
  return json_reply({{"content", model->tokenizer->decode(ids, skip)}});
}

}  // namespace

Route detokenize() { return {.method = "POST", .path = "/detokenize", .answer = answer}; }

}  // namespace genai::serve::routes
