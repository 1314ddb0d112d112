// GET /v1/status: what the server is doing; no session id, no text
#include "serve/dispatch.h"

namespace genai::serve::routes {
namespace {

const char* state_of(const ServedModel& model) {
  if (!model.driver) return "ready";
  if (model.driver->failed()) return "failed";
  return model.driver->stalled() ? "stalled" : model.driver->busy() ? "busy" : "ready";
}

Json model_json(const ServedModel& model) {
  Json json = {{"id", model.name}, {"state", state_of(model)}, {"path", model.path}};
  if (!model.driver) return json;
  const EngineStats stats = model.driver->stats();
  json["rows"] = model.driver->rows();
  json["context_length"] = model.driver->context_length();
  json["rows_running"] = stats.running;
  json["rows_waiting"] = stats.waiting;
  json["rows_paused"] = stats.paused;
  json["kv"] = {{"type", model.kv_type},
                {"blocks_total", stats.kv.total},
                {"blocks_used", stats.kv.used},
                {"blocks_cached", stats.kv.cached}};
  json["figures_age_ms"] = static_cast<int64_t>(model.driver->still_ms(steady_ms()));
  json["steps"] = stats.steps;
  json["prompt_tokens"] = stats.prompt_tokens;
  json["tokens_generated"] = stats.generated_tokens;
  json["speculation"] = {{"proposed_tokens", stats.proposed_tokens}, {"accepted_tokens", stats.accepted_tokens}};
  if (!stats.draft_failure.empty()) json["speculation"]["draft_failed"] = true;
  return json;
}

Reply answer(Server& server, const HttpRequest&) {
  Json models = Json::array();
  int free = 0;
  const auto loaded = server.models().loaded();
  for (const auto& model : loaded) {
    models.push_back(model_json(*model));
    if (model->driver) free += model->driver->permits().free();
  }
  for (const std::string& name : server.models().names()) {
    bool known = false;
    for (const auto& model : loaded) known = known || model->name == name;
    if (!known) models.push_back({{"id", name}, {"state", server.models().state_unloaded(name)}});
  }
  const SessionRegistry& registry = server.sessions().registry();
  const int held = registry.leases().held();
  return json_reply({{"models", std::move(models)},
                     {"sessions", {{"live", registry.live()}, {"busy", held}}},
                     {"leases_held", held},
                     {"permits_free", free},
                     {"batch_invariant", true},
                     {"connections", server.metrics().connections.load()},
                     {"uptime_s", server.uptime_s()}});
}

}  // namespace

Route status() { return {.method = "GET", .path = "/v1/status", .answer = answer, .instant = true}; }

}  // namespace genai::serve::routes
