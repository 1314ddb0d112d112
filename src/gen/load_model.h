// Model folder → a decoder that the engine can drive, on the paged path where the graph allows it.
//
//   LoadedModel model = load_model("models/smollm2", {.threads = 2});
//   Engine engine(std::move(model.decoder), model.tokenizer, {});
//
// Threads: one. Errors: Error naming file, node and key. Memory: weights are packed once; see exec/session.h.
// The workers belong to the LoadedModel and must outlive the decoder.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "exec/session.h"
#include "gen/decoder_model.h"
#include "package/model_spec.h"

namespace genai {

struct LoadOptions {
  int threads = 0;                         // 0: all allowed CPUs
  std::optional<nxrt::Isa> isa;            // default: the best this machine has
  std::optional<nxrt::DType> kv_dtype;     // of the KV cache; default: what suits the weights (gen/kv_type.h)
  int max_step_rows = 512;                 // tokens per step
  int context_length = 0;                  // 0: the package's; more than the package's is refused
  bool dense = false;                      // don't try the paged path
  std::shared_ptr<nxrt::Workers> workers;  // absent: a pool of its own, of `threads`
};

struct LoadedModel {
  ModelSpec spec;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<nxrt::Workers> workers;
  std::unique_ptr<DecoderModel> decoder;
  nxrt::exec::Session* session = nullptr;   // the decoder's, for its profile and figures
  nxrt::DType kv_dtype = nxrt::DType::f32;  // of the KV cache
  bool paged = false;
  std::string why_dense;  // naming node and operator; empty when paged
  double load_ms = 0;
};

LoadedModel load_model(const std::filesystem::path& folder, const LoadOptions& options);

// A smaller model that drafts for `model` (gen/draft_model.h), on the same workers. Refused when its vocabulary isn't
// the same, token by token, or when it can't take the paged path.
LoadedModel load_draft(const std::filesystem::path& folder, LoadOptions options, const LoadedModel& model);

}  // namespace genai
