// DELETE /v1/sessions/{id}: 409 while a turn runs
#include "serve/dispatch.h"
#include "serve/turn.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  server.sessions().remove(session_in_path(http), http.owner);
  return {.status = 204, .content_type = {}};
}

}  // namespace

Route session_delete() { return {.method = "DELETE", .path = "/v1/sessions/{id}", .answer = answer}; }

}  // namespace genai::serve::routes
