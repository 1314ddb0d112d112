// GET /ready: a model is loaded and every engine makes progress
#include "serve/dispatch.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest&) {
  const auto models = server.models().loaded();
  if (server.stopping()) throw ApiError::unavailable("stopping", "the server is stopping");
  if (const std::optional<std::string> dead = server.models().dead()) {
    throw ApiError::unavailable("engine_failed", "the engine of model '" + *dead +
                                                     "' has ended by a fault and isn't back yet; try again later");
  }
  if (models.empty()) throw ApiError::unavailable("loading", "no model is loaded yet");
  for (const auto& model : models) {
    if (model->driver) model->driver->check_alive();
  }
  return {.body = R"({"status":"ready"})"};
}

}  // namespace

Route ready() { return {.method = "GET", .path = "/ready", .answer = answer, .instant = true, .open = true}; }

}  // namespace genai::serve::routes
