// GET /v1/models/{model}
#include <algorithm>

#include "serve/answer.h"
#include "serve/dispatch.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest& http) {
  const std::string& name = http.path_parts.at("model");
  const std::vector<std::string>& names = server.models().names();
  if (std::ranges::find(names, name) == names.end()) {
    throw ApiError::not_found("model '" + name + "' is not one of this server's", "model_not_found", "model");
  }
  return json_reply(
      {{"id", name}, {"object", "model"}, {"created", unix_seconds() - server.uptime_s()}, {"owned_by", "onnx-genai"}});
}

}  // namespace

Route model_get() { return {.method = "GET", .path = "/v1/models/{model}", .answer = answer, .instant = true}; }

}  // namespace genai::serve::routes
