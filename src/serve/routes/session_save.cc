// POST /v1/sessions/{id}/save: tokens, messages, keys and values into --session-dir
#include "serve/dispatch.h"
#include "serve/turn.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  return json_reply(session_object(*server.sessions().save(session_in_path(http), http.owner), false));
}

}  // namespace

Route session_save() { return {.method = "POST", .path = "/v1/sessions/{id}/save", .answer = answer}; }

}  // namespace genai::serve::routes
