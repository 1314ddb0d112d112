// The committed tiny models and what ONNX Runtime said of them.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gen/engine.h"
#include "gen/load_model.h"

namespace genai::test {

inline std::filesystem::path fixture_folder(const std::string& name) {
  return std::filesystem::path(NXRT_SOURCE_DIR) / "tests/fixtures" / name;
}

struct Golden {
  std::vector<TokenId> prompt, greedy;
  std::vector<float> logits;  // of every row of the prompt
};

inline Golden golden_of(const std::string& fixture) {
  std::ifstream file(fixture_folder(fixture) / "golden.json");
  const nlohmann::json json = nlohmann::json::parse(file);
  Golden golden;
  for (const int id : json["prompt"]) golden.prompt.emplace_back(id);
  for (const int id : json["greedy"]) golden.greedy.emplace_back(id);
  golden.logits = json["logits"].get<std::vector<float>>();
  return golden;
}

// An engine stepped by hand over a loaded model; `workers` outlives it.
struct LoadedEngine {
  explicit LoadedEngine(LoadedModel model, EngineOptions options = {}) : workers(model.workers) {
    options.manual = true;
    engine = std::make_unique<Engine>(std::move(model.decoder), model.tokenizer, options);
  }
  std::vector<Event> finish(Ticket& ticket) {
    std::vector<Event> events;
    while (!ticket.done()) {
      while (auto event = ticket.try_next()) events.push_back(std::move(*event));
      engine->step();
    }
    return events;
  }
  std::vector<TokenId> answer(Request request) {
    Ticket ticket = engine->submit(std::move(request));
    std::vector<TokenId> tokens;
    for (const Event& event : finish(ticket)) {
      if (event.token.valid()) tokens.push_back(event.token);
    }
    return tokens;
  }

  std::shared_ptr<nxrt::Workers> workers;
  std::unique_ptr<Engine> engine;
};

inline Request greedy(std::vector<TokenId> prompt, int max_tokens) {
  return {.prompt = std::move(prompt), .max_tokens = max_tokens, .sampling = {.temperature = 0}, .ignore_eos = true};
}

}  // namespace genai::test
