// POST /v1/sessions: {"model", "id"} → a session
#include "serve/dispatch.h"
#include "serve/fields.h"
#include "serve/turn.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  const Json body = http.body.empty() ? Json::object() : body_object(http.body);
  Fields fields(body);
  const std::string model = fields.text("model").value_or("");
  const std::optional<SessionId> named = session_named(http, fields.text("id").value_or(""));
  const std::shared_ptr<ServedModel> served = server.models().get(model);
  if (!served->driver) throw ApiError::unsupported("model", "model '" + served->name + "' can't generate");
  const SessionId id = named.value_or(SessionId::random());
  return json_reply(session_object(*server.sessions().create(id, http.owner, *served), false));
}

}  // namespace

Route session_create() { return {.method = "POST", .path = "/v1/sessions", .answer = answer}; }

}  // namespace genai::serve::routes
