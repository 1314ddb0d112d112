// POST /apply-template: {"messages", "model", "add_generation_prompt"} → {"prompt"}
#include "serve/dispatch.h"
#include "serve/fields.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  const Json body = body_object(http.body);
  Fields fields(body);
  const Json messages = read_messages(fields.required("messages", "an array of messages"));
  const std::shared_ptr<ServedModel> model = server.models().get(fields.text("model").value_or(""));
  const bool prompt = fields.boolean("add_generation_prompt").value_or(true);
  return json_reply({{"prompt", chat_of(*model).render(messages, {.add_generation_prompt = prompt})}});
}

}  // namespace

Route apply_template() { return {.method = "POST", .path = "/apply-template", .answer = answer}; }

}  // namespace genai::serve::routes
