// POST /tokenize: {"content" | "messages", "model", "add_special", "with_pieces"} → {"tokens", "count"}
#include "serve/dispatch.h"
#include "serve/fields.h"

namespace genai::serve::routes {
namespace {

std::vector<TokenId> encode(Fields& fields, const ServedModel& model) {
  const bool special = fields.boolean("add_special").value_or(true);
  if (const Json* messages = fields.find("messages")) {
    const std::string prompt = chat_of(model).render(read_messages(*messages), {});
    return model.tokenizer->encode(prompt, {.special_tokens = false});
  }
  const Json& content = fields.required("content", "a text");
  if (!content.is_string()) fields.refuse("content", content, "a text");
  return model.tokenizer->encode(content.get<std::string>(), {.special_tokens = special});
}

Reply answer(Server& server, const HttpRequest& http) {
  const Json body = body_object(http.body);
  Fields fields(body);
  const std::shared_ptr<ServedModel> model = server.models().get(fields.text("model").value_or(""));
  const bool pieces = fields.boolean("with_pieces").value_or(false);
  Json tokens = Json::array();
  for (const TokenId id : encode(fields, *model)) {
    if (pieces) {
      tokens.push_back({{"id", id.value}, {"piece", model->tokenizer->bytes_of(id, false)}});
    } else {
      tokens.push_back(id.value);
    }
  }
  const size_t count = tokens.size();
  return json_reply({{"tokens", std::move(tokens)}, {"count", count}});
}

}  // namespace

Route tokenize() { return {.method = "POST", .path = "/tokenize", .answer = answer}; }

}  // namespace genai::serve::routes
