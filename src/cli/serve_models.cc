#include "cli/serve_models.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "serve/answer.h"
#include "serve/onnx_embedder.h"

namespace genai::cli {
namespace fs = std::filesystem;
namespace {
constexpr size_t kFingerprintBytes = size_t{1} << 20;  // of each file

std::string default_name(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  if (path.extension() == ".onnx") return path.parent_path().filename().string();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

// Changes when another model stands in the folder: sizes and beginnings of tokenizer and decoder.
std::string fingerprint(const ModelSpec& spec) {
  uint64_t hash = 1469598103934665603u;
  std::string sizes;
  for (const fs::path& path : {spec.tokenizer_json, spec.decoder}) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes(kFingerprintBytes, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<size_t>(in.gcount()));
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
    sizes += std::to_string(fs::file_size(path)) + "-";
  }
  return sizes + std::to_string(hash);
}

std::shared_ptr<serve::ServedModel> load_embedder(const std::string& name, const fs::path& folder, int threads) {
  auto served = std::make_shared<serve::ServedModel>();
  served->name = name;
  served->created = serve::unix_seconds();
  served->path = "encoder";
  served->embedder = serve::open_embedder(folder, threads);
  served->tokenizer = Tokenizer::open(folder / "tokenizer.json");
  return served;
}
}  // namespace

void ServedModelFlags::add(CLI::App& app) {
  model.add(app);
  speculation.add(app);
  app.get_option("MODEL")->required(false);
  app.add_option("--model", named, "NAME=DIR: a further model, loaded when it is first asked for (repeatable)");
  app.add_option("--max-loaded-models", max_loaded, "Models in memory at once; 0: all")->check(CLI::NonNegativeNumber);
  app.add_option("--load-seconds", load_seconds, "Seconds that a request waits for its model to be loaded")
      ->check(CLI::Range(0, 86400))
      ->capture_default_str();
  app.add_option("--rows", rows, "Answers generated together")->check(CLI::Range(1, 512))->capture_default_str();
  app.add_option("--max-queue", max_queue, "Answers that wait beyond those")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--stall-seconds", stall_seconds, "An engine that makes no step for so long is not ready")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
}

std::map<std::string, std::string> ServedModelFlags::folders() const {
  std::map<std::string, std::string> all;
  if (!model.model.empty()) all[default_name(model.model)] = model.model;
  for (const std::string& one : named) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == one.size()) {
      throw CLI::ValidationError("--model", "'" + one + "' is not NAME=DIR");
    }
    if (!all.emplace(one.substr(0, equals), one.substr(equals + 1)).second) {
      throw CLI::ValidationError("--model", "the name '" + one.substr(0, equals) + "' is given twice");
    }
  }
  return all;
}

std::vector<std::string> ServedModelFlags::names() const {
  const std::map<std::string, std::string> all = folders();
  std::vector<std::string> names;
  if (!model.model.empty()) names.push_back(default_name(model.model));
  for (const std::string& one : named) names.push_back(one.substr(0, one.find('=')));
  if (names.empty()) throw CLI::ValidationError("MODEL", "no model is given: a folder, or --model NAME=DIR");
  return names;
}

std::shared_ptr<serve::ServedModel> ServedModelFlags::load(const std::string& name) const {
  const fs::path folder = folders().at(name);
  if (serve::is_embedding_folder(folder)) return load_embedder(name, folder, model.threads);
  auto loaded = std::make_shared<LoadedModel>(load_model(folder, model.load_options()));
  if (!loaded->paged) {
    std::fprintf(stderr, "note: model '%s' runs on the dense path, one sequence at a time: %s\n", name.c_str(),
                 loaded->why_dense.c_str());
  }
  EngineOptions options;
  options.kv_bytes = kv_budget(model, *loaded->decoder, rows);
  options.speculation = speculation.options(*loaded, model.load_options(), options.kv_bytes);
  options.scheduler.max_sequences = std::min(rows, loaded->decoder->max_step_rows());
  options.scheduler.max_step_rows = model.max_step_rows;
  if (model.max_step_ms > 0) options.scheduler.max_step_ms = model.max_step_ms;
  options.max_queue = max_queue;
  options.call_wait_ms = stall_seconds * 1000;

  auto served = std::make_shared<serve::ServedModel>();
  served->name = name;
  served->fingerprint = fingerprint(loaded->spec);
  served->created = serve::unix_seconds();
  served->path = loaded->paged ? "paged" : "dense";
  served->kv_type = name_of(loaded->kv_dtype);
  served->tokenizer = loaded->tokenizer;
  served->generation = loaded->spec.generation;
  served->chat.emplace(loaded->spec);
  for (const auto& [variant, source] : loaded->spec.chat_templates) find_reasoning_markers(*served, source);
  served->weight_bytes = loaded->session->weight_bytes();
  served->driver = std::make_unique<serve::Driver>(
      name, std::make_unique<Engine>(std::move(loaded->decoder), loaded->tokenizer, options),
      options.scheduler.max_sequences, serve::DriverOptions{.max_queue = max_queue, .stall_ms = stall_seconds * 1000});
  served->loaded = loaded;
  return served;
}

}  // namespace genai::cli
