#include "gen/load_model.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/cpu.h"
#include "gen/decoder_ports.h"
#include "gen/dense_model.h"
#include "gen/kv_type.h"
#include "gen/paged_model.h"
#include "gen/paged_rewrite.h"
#include "gen/rotary_reach.h"
#include "onnx/reader.h"
#include "passes/pass.h"

namespace genai {
namespace {

constexpr int kUnknownContext = 2048;  // when neither the package nor the caller says how far the model reaches

int context_length(const ModelSpec& spec, const nxrt::Graph& graph, const LoadOptions& options) {
  const int64_t declared = spec.context_length > 0 ? spec.context_length : INT32_MAX;
  const int64_t most = std::min(declared, rotary_reach(graph).value_or(INT32_MAX));
  if (options.context_length <= 0) return static_cast<int>(most < INT32_MAX ? most : kUnknownContext);
  if (options.context_length > most) {
    throw Error(Code::invalid_argument,
                "a context of " + std::to_string(options.context_length) + " tokens was asked for, the model has " +
                    std::to_string(most),
                spec.folder.string(), "ask for at most " + std::to_string(most));
  }
  return options.context_length;
}

// The dense path keeps the caches that the graph has.
void check_dense_kv_type(const LoadedModel& model, nxrt::DType has, const std::string& why_dense,
                         const LoadOptions& options) {
  if (!options.kv_dtype || *options.kv_dtype == has) return;
  throw Error(Code::unsupported,
              "a KV cache of " + std::string(name_of(*options.kv_dtype)) + " was asked for, the dense path has the " +
                  std::string(name_of(has)) + " of the model's past inputs: " + why_dense,
              model.spec.decoder.string(), "leave the type of the KV cache to the model (auto)");
}

void bind(LoadedModel& model, std::unique_ptr<nxrt::Graph> graph, const LoadOptions& options) {
  const std::string where = model.spec.decoder.string();
  const DecoderPorts ports = find_decoder_ports(*graph, model.spec.roles, where);
  const int context = context_length(model.spec, *graph, options);
  const nxrt::DType kv_dtype = options.kv_dtype.value_or(kv_type_for(*graph));
  PagedRewrite rewrite;
  if (options.dense) {
    rewrite.reason = "the dense path was asked for";
  } else {
    rewrite = rewrite_paged(*graph, ports, where, context);
  }
  nxrt::exec::SessionOptions session;
  session.isa = options.isa;
  if (rewrite.decoder) {
    graph.reset();
    auto paged = std::make_unique<PagedModel>(
        std::move(*rewrite.decoder), where, *model.workers,
        PagedModel::Options{.context_length = context, .max_step_rows = options.max_step_rows, .kv_dtype = kv_dtype},
        session);
    model.session = &paged->session();
    model.decoder = std::move(paged);
    model.paged = true;
    return;
  }
  auto dense = std::make_unique<DenseModel>(
      std::move(graph), ports, where, *model.workers,
      DenseModel::Options{.context_length = context, .max_step_rows = options.max_step_rows}, session);
  check_dense_kv_type(model, dense->kv_layout().dtype, rewrite.reason, options);
  model.session = &dense->session();
  model.decoder = std::move(dense);
  model.why_dense = rewrite.reason;
}

// A tokenizer that gives ids the decoder has no row for would read past its embedding.
void check_vocabulary(const LoadedModel& model) {
  const int tokens = model.tokenizer->vocab_size(), rows = model.decoder->vocab_size();
  if (tokens <= rows) return;
  throw Error(
      Code::invalid_argument,
      "the tokenizer has " + std::to_string(tokens) + " tokens, the decoder's logits have " + std::to_string(rows),
      model.spec.folder.string(), "use the tokenizer.json that belongs to this decoder");
}

void check_same_vocabulary(const LoadedModel& draft, const LoadedModel& model) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Code::invalid_argument, what, draft.spec.folder.string(),
                "use a draft model of the same family: its tokens must be the model's");
  };
  const int count = model.tokenizer->vocab_size();
  if (draft.tokenizer->vocab_size() != count) {
    refuse("the draft model's vocabulary has " + std::to_string(draft.tokenizer->vocab_size()) +
           " tokens, the model's has " + std::to_string(count));
  }
  for (TokenId id(0); id.value < count; ++id.value) {
    const std::string drafted = draft.tokenizer->token(id), own = model.tokenizer->token(id);
    if (drafted == own) continue;
    refuse("token " + std::to_string(id.value) + " is '" + drafted + "' in the draft model, '" + own +
           "' in the model");
  }
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& folder, const LoadOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  LoadedModel model;
  model.spec = open_model_folder(folder);
  model.workers = options.workers;
  if (!model.workers) {
    model.workers = std::make_shared<nxrt::Workers>(options.threads > 0 ? options.threads : nxrt::allowed_cpus());
  }
  model.tokenizer = Tokenizer::open(model.spec.tokenizer_json);
  std::unique_ptr<nxrt::Graph> graph = nxrt::read_model(model.spec.decoder);
  nxrt::passes::infer_shapes(*graph, model.spec.decoder.string());
  bind(model, std::move(graph), options);
  check_vocabulary(model);
  model.kv_dtype = model.decoder->kv_layout().dtype;
  model.load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return model;
}

LoadedModel load_draft(const std::filesystem::path& folder, LoadOptions options, const LoadedModel& model) {
  options.workers = model.workers;
  options.context_length = 0;
  LoadedModel draft = load_model(folder, options);
  if (!draft.paged) {
    throw Error(Code::unsupported, "the draft model can't take the paged path: " + draft.why_dense,
                draft.spec.folder.string(), "use another draft model, or none");
  }
  check_same_vocabulary(draft, model);
  return draft;
}

}  // namespace genai
