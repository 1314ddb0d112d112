// POST /v1/sessions/{id}/rewind: {"position"} → the session, as if it had never gone further
#include "serve/dispatch.h"
#include "serve/fields.h"
#include "serve/turn.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  const Json body = body_object(http.body);
  Fields fields(body);
  fields.required("position", "a number of tokens");
  const int64_t position = *fields.integer("position", 0, INT64_MAX);
  return json_reply(session_object(*server.sessions().rewind(session_in_path(http), http.owner, position), false));
}

}  // namespace

Route session_rewind() { return {.method = "POST", .path = "/v1/sessions/{id}/rewind", .answer = answer}; }

}  // namespace genai::serve::routes
