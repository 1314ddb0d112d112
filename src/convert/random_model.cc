#include "convert/random_model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "convert/filler_tokenizer.h"
#include "convert/llama_graph.h"
#include "convert/llama_shapes.h"
#include "convert/new_folder.h"
#include "convert/package_files.h"
#include "convert/random_weights.h"

namespace genai {
namespace {

constexpr int64_t kBitsPerParameter = 5;  // 4, and the share of a block's scale

int64_t count_parameters(const LlamaConfig& config) {
  const int64_t attention = 2 * config.hidden * (config.heads + config.kv_heads) * config.head_size;
  const int64_t layer = attention + 3 * config.hidden * config.feed_forward + 2 * config.hidden;
  return config.layers * layer + config.hidden + config.vocab * config.hidden * (config.tied_embeddings ? 1 : 2);
}

}  // namespace

ImportReport import_random_model(const RandomModelOptions& options,
                                 const std::function<bool(const ImportProgress&)>& progress) {
  const LlamaConfig config = read_llama_shape(options.shape);
  const GgufTokenizer tokenizer = make_filler_tokenizer(config.vocab);
  ImportProgress state{.stage = "weights", .total_bytes = count_parameters(config) * kBitsPerParameter / 8};
  const auto advance = [&](int64_t parameters) {
    state.done_bytes += parameters * kBitsPerParameter / 8;
    if (progress && !progress(state)) {
      throw nxrt::Error(nxrt::Code::cancelled, "the import was cancelled", options.shape);
    }
  };
  NewFolder folder(options.target, options.overwrite);
  RandomWeights weights(config, options.seed, folder.path(), advance);
  build_llama_graph(config, options.activations, weights);
  weights.write_model(options.shape);
  const ModelCard card{.name = fmt::format("random weights (seed {})", options.seed),
                       .license = "CC0-1.0",
                       .source = std::filesystem::path(options.shape).filename().string(),
                       .random_seed = options.seed};
  write_package_files(folder.path(), config, tokenizer, card);

  ImportReport report{.architecture = config.architecture, .name = card.name, .license = card.license};
  report.parameters = weights.parameters();
  report.target_bytes = bytes_below(folder.path());
  report.notes = {"the weights are random numbers: for measuring speed only"};
  folder.publish();
  return report;
}

}  // namespace genai
