// GET /metrics, in Prometheus' text form
#include <fmt/format.h>

#include "base/cpu.h"
#include "serve/dispatch.h"

namespace genai::serve::routes {
namespace {

struct Row {
  const char* type;
  const char* name;
  const char* help;
  double (*value)(const EngineStats& stats);
};

constexpr Row kRows[] = {
    {"gauge", "batch_size_current", "Answers being generated.", [](const EngineStats& s) { return double(s.running); }},
    {"gauge", "requests_waiting", "Answers that wait for a row.",
     [](const EngineStats& s) { return double(s.waiting); }},
    {"gauge", "requests_paused", "Answers whose reader is slow.",
     [](const EngineStats& s) { return double(s.paused); }},
    {"counter", "batch_forward_steps_total", "Steps of the model.",
     [](const EngineStats& s) { return double(s.steps); }},
    {"counter", "prefilled_tokens_total", "Prompt tokens computed.",
     [](const EngineStats& s) { return double(s.prompt_tokens); }},
    {"counter", "tokens_generated_total", "Tokens sampled.",
     [](const EngineStats& s) { return double(s.generated_tokens); }},
    {"counter", "preemptions_total", "Answers that gave their blocks up for a while.",
     [](const EngineStats& s) { return double(s.preemptions); }},
    {"gauge", "kv_pages_capacity", "KV blocks.", [](const EngineStats& s) { return double(s.kv.total); }},
    {"gauge", "kv_pages_in_use", "KV blocks held by anybody, cached ones included.",
     [](const EngineStats& s) { return double(s.kv.used); }},
    {"gauge", "kv_pages_cached", "KV blocks held only for reuse.",
     [](const EngineStats& s) { return double(s.kv.cached); }},
    {"gauge", "kv_resident_bytes", "Memory of the KV pool.",
     [](const EngineStats& s) { return double(s.kv_resident_bytes); }},
};

void write_models(std::string& out, const std::vector<std::shared_ptr<ServedModel>>& models) {
  for (const Row& row : kRows) {
    for (const auto& model : models) {
      if (!model->driver) continue;
      write_metric(out, row.type, row.name, row.help, row.value(model->driver->stats()),
                   fmt::format("model=\"{}\"", model->name));
    }
  }
  for (const auto& model : models) {
    write_metric(out, "gauge", "memory_bytes", "Memory by owner.", static_cast<double>(model->weight_bytes),
                 fmt::format("owner=\"weights\",model=\"{}\"", model->name));
  }
}

Reply answer(Server& server, const HttpRequest&) {
  if (!server.options().metrics) throw ApiError::not_found("metrics are off (--no-metrics)", "unknown_url");
  std::string out;
  server.metrics().write(out);
  write_models(out, server.models().loaded());
  const SessionRegistry& registry = server.sessions().registry();
  write_metric(out, "gauge", "sessions_active", "Live sessions.", registry.live());
  write_metric(out, "gauge", "leases_held", "Sessions with a turn in flight.", registry.leases().held());
  write_metric(out, "gauge", "resident_bytes", "Memory of the process.", static_cast<double>(nxrt::resident_bytes()));
  return {.content_type = "text/plain; version=0.0.4", .body = std::move(out)};
}

}  // namespace

Route metrics() { return {.method = "GET", .path = "/metrics", .answer = answer, .instant = true}; }

}  // namespace genai::serve::routes
