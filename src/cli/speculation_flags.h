// The flags of speculation, for the subcommands that generate.
#pragma once

#include <string>

#include "gen/load_model.h"
#include "gen/speculation.h"

namespace CLI {
class App;
}

namespace genai::cli {

struct SpeculationFlags {
  std::string mode = "auto";
  std::string draft_model;

  void add(CLI::App& app);
  // The draft model runs on the model's workers; its KV cache holds as many tokens as `kv_bytes` hold of the model.
  // Throws Error when speculation was asked for and can't be had; `auto` does without, on the dense path.
  SpeculationOptions options(const LoadedModel& model, LoadOptions load, int64_t kv_bytes) const;
};

}  // namespace genai::cli
