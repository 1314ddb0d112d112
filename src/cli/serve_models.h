// The models of `serve`: flags, names, and loading one for the server.
//
// Threads: load() from any. Errors: load throws Error naming file and reason.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/model_flags.h"
#include "cli/speculation_flags.h"
#include "serve/model_hub.h"

namespace genai::cli {

struct ServedModelFlags {
  ModelFlags model;                // of the default one, and the engine's options of all
  SpeculationFlags speculation;    // of all; a draft model's vocabulary must be theirs
  std::vector<std::string> named;  // NAME=DIR
  int rows = 16, max_queue = 256, max_loaded = 0, load_seconds = 30;
  double stall_seconds = 10;

  void add(CLI::App& app);
  std::vector<std::string> names() const;  // the default first; throws CLI::ValidationError
  std::shared_ptr<serve::ServedModel> load(const std::string& name) const;

 private:
  std::map<std::string, std::string> folders() const;
};

}  // namespace genai::cli
