// GET /v1/models
#include "serve/answer.h"
#include "serve/dispatch.h"

namespace genai::serve::routes {
namespace {

Reply answer(Server& server, const HttpRequest&) {
  Json data = Json::array();
  const auto loaded = server.models().loaded();
  for (const std::string& name : server.models().names()) {
    int64_t created = unix_seconds() - server.uptime_s();
    for (const auto& model : loaded) {
      if (model->name == name) created = model->created;
    }
    data.push_back({{"id", name}, {"object", "model"}, {"created", created}, {"owned_by", "onnx-genai"}});
  }
  return json_reply({{"object", "list"}, {"data", std::move(data)}});
}

}  // namespace

Route models() { return {.method = "GET", .path = "/v1/models", .answer = answer, .instant = true}; }

}  // namespace genai::serve::routes
