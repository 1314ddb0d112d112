// GET /v1/sessions/{id}
#include "serve/dispatch.h"
#include "serve/turn.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  const SessionRegistry::Look look = server.sessions().registry().look(session_in_path(http), http.owner);
  return json_reply(session_object(*look.session, look.busy));
}

}  // namespace

Route session_get() { return {.method = "GET", .path = "/v1/sessions/{id}", .answer = answer}; }

}  // namespace genai::serve::routes
