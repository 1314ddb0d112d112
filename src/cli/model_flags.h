// The flags of every subcommand that opens a model, and the model they open.
//
//   auto flags = std::make_shared<ModelFlags>();
//   flags->add(app);
//   … OpenedModel model = open(*flags, 1);  Ticket t = model.engine->submit(…);
#pragma once

#include <memory>
#include <string>

#include "cli/speculation_flags.h"
#include "gen/engine.h"
#include "gen/load_model.h"

namespace CLI {
class App;
}

namespace genai::cli {

struct ModelFlags {
  std::string model;
  int threads = 0;
  std::string isa, kv_memory, kv_type = "auto";
  int context = 0;
  int max_step_rows = 512;
  double max_step_ms = 0;  // 0: the scheduler's default
  bool dense = false;
  bool profile = false;
  std::string profile_trace;

  void add(CLI::App& app);
  LoadOptions load_options() const;
};

// The engine goes before the model that its decoder's workers belong to.
struct OpenedModel {
  LoadedModel loaded;
  std::unique_ptr<Engine> engine;
  int64_t kv_budget = 0;
};

// Bytes of the KV cache: what --kv-memory says, else room for `streams` full contexts within a share of the memory.
int64_t kv_budget(const ModelFlags& flags, const DecoderModel& decoder, int streams);

// `streams`: how many requests will run together; the default KV budget has room for that many full contexts.
OpenedModel open(const ModelFlags& flags, int streams, const SpeculationFlags& speculation = {.mode = "off"});

// What --profile and --profile-trace asked for: a table on stderr, a trace file. Throws Error{io}.
void report_profile(const ModelFlags& flags, OpenedModel& model);

}  // namespace genai::cli
