// POST /v1/sessions/{id}/fork: {"position"} → a new session with the beginning of this one
#include "serve/dispatch.h"
#include "serve/fields.h"
#include "serve/turn.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  const Json body = http.body.empty() ? Json::object() : body_object(http.body);
  const std::optional<int64_t> position = Fields(body).integer("position", 0, INT64_MAX);
  return json_reply(session_object(*server.sessions().fork(session_in_path(http), http.owner, position), false));
}

}  // namespace

Route session_fork() { return {.method = "POST", .path = "/v1/sessions/{id}/fork", .answer = answer}; }

}  // namespace genai::serve::routes
