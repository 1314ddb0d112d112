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
    {"gauge", "kv_page_size_tokens", "Tokens of a KV block.", [](const EngineStats&) { return double(kBlockTokens); }},
    {"gauge", "kv_budget_bytes", "Memory the KV pool may grow to.",
     [](const EngineStats& s) { return double(s.kv.total * s.kv.block_bytes); }},
    {"counter", "speculation_proposed_tokens_total", "Guessed tokens that the model checked.",
     [](const EngineStats& s) { return double(s.proposed_tokens); }},
    {"counter", "speculation_accepted_tokens_total", "Guessed tokens that were right.",
     [](const EngineStats& s) { return double(s.accepted_tokens); }},
};

void write_owner(std::string& out, const char* owner, const ServedModel& model, int64_t bytes) {
  write_metric(out, "gauge", "memory_bytes", "Memory by owner.", static_cast<double>(bytes),
               fmt::format("owner=\"{}\",model=\"{}\"", owner, model.name));
}

void write_models(std::string& out, const std::vector<std::shared_ptr<ServedModel>>& models) {
  for (const Row& row : kRows) {
    for (const auto& model : models) {
      if (!model->driver) continue;
      write_metric(out, row.type, row.name, row.help, row.value(model->driver->stats()),
                   fmt::format("model=\"{}\"", model->name));
    }
  }
  for (const auto& model : models) {
    if (!model->driver) continue;
    const std::string label = fmt::format("model=\"{}\"", model->name);
    write_metric(out, "gauge", "kv_paging_applicable", "1: the model keeps its cache in blocks.",
                 model->path == "paged", label);
    write_metric(out, "gauge", "queue_free", "Answers that could be taken up now, running or waiting.",
                 model->driver->permits().free(), label);
    write_metric(out, "gauge", "engine_up", "1: the engine makes progress or has nothing to do.",
                 !model->driver->failed() && !model->driver->stalled(), label);
    write_metric(out, "gauge", "engine_figures_age_seconds", "Since when an engine with work has made no progress.",
                 model->driver->still_ms(steady_ms()) / 1000, label);
  }
  for (const auto& model : models) {
    write_owner(out, "weights", *model, model->weight_bytes);
    if (model->driver) write_owner(out, "kv", *model, model->driver->stats().kv_resident_bytes);
  }
}

// The process against what it may use, under the names of the reference implementation.
void write_process(std::string& out) {
  const int64_t used = nxrt::resident_bytes(), limit = nxrt::allowed_memory();
  write_metric(out, "gauge", "host_ram_used_bytes", "Memory of the process.", static_cast<double>(used));
  write_metric(out, "gauge", "host_ram_limit_bytes", "Memory the process may use.", static_cast<double>(limit));
  write_metric(out, "gauge", "host_ram_headroom_bytes", "What is left of it.", static_cast<double>(limit - used));
}

Reply answer(Server& server, const HttpRequest&) {
  if (!server.options().metrics) throw ApiError::not_found("metrics are off (--no-metrics)", "unknown_url");
  std::string out;
  server.metrics().write(out);
  write_models(out, server.models().loaded());
  for (const auto& [name, count] : server.models().reloads()) {
    write_metric(out, "counter", "engine_reloads_total", "Times a model was loaded again after its engine had died.",
                 static_cast<double>(count), fmt::format("model=\"{}\"", name));
  }
  const SessionRegistry& registry = server.sessions().registry();
  write_metric(out, "gauge", "sessions_active", "Live sessions.", registry.live());
  write_metric(out, "gauge", "leases_held", "Sessions with a turn in flight.", registry.leases().held());
  write_metric(out, "gauge", "uptime_seconds", "Since the start.", static_cast<double>(server.uptime_s()));
  write_process(out);
  return {.content_type = "text/plain; version=0.0.4", .body = std::move(out)};
}

}  // namespace

Route metrics() { return {.method = "GET", .path = "/metrics", .answer = answer, .instant = true}; }

}  // namespace genai::serve::routes
