// POST /v1/sessions/restore: {"id"} → the session as it was when it was saved
#include "serve/dispatch.h"
#include "serve/fields.h"
#include "serve/turn.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  const Json body = body_object(http.body);
  Fields fields(body);
  const Json& id = fields.required("id", "a session's id");
  if (!id.is_string()) fields.refuse("id", id, "a session's id");
  const std::optional<SessionId> named = SessionId::parse(id.get<std::string>());
  if (!named) fields.refuse("id", id, "1 to 128 printable ASCII characters");
  return json_reply(session_object(*server.sessions().restore(*named, http.owner), false));
}

}  // namespace

Route session_restore() { return {.method = "POST", .path = "/v1/sessions/restore", .answer = answer}; }

}  // namespace genai::serve::routes
