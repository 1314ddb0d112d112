#include "convert/import.h"

#include <fmt/format.h>

#include <system_error>

#include "base/error.h"
#include "convert/gguf_file.h"
#include "convert/gguf_tokenizer.h"
#include "convert/gguf_weights.h"
#include "convert/llama_config.h"
#include "convert/llama_graph.h"
#include "convert/new_folder.h"
#include "convert/package_files.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {

using Progress = std::function<bool(const ImportProgress&)>;

ModelCard read_card(const GgufFile& file) {
  const auto text = [&](const char* key) { return std::string(file.text(key).value_or("")); };
  return {text("general.name"), text("general.license"), text("general.license.link"), file.where()};
}

void expect_room_for_tokens(const GgufFile& file, const LlamaConfig& config, const GgufTokenizer& tokenizer) {
  if (tokenizer.vocab_size <= config.vocab) return;
  throw Error(Code::corrupt,
              fmt::format("the tokenizer has {} tokens, the embedding {} rows", tokenizer.vocab_size, config.vocab),
              file.place_of_tensor("token_embd.weight"));
}

// Turns weights into graph and data file; returns how many tensors had to be rounded.
int64_t write_graph(const GgufFile& file, const LlamaConfig& config, const ImportOptions& options,
                    const std::filesystem::path& folder, const Progress& progress) {
  ImportProgress state{.stage = "weights"};
  for (const GgufTensor& tensor : file.tensors()) state.total_bytes += static_cast<int64_t>(tensor.data.size());
  const auto advance = [&](int64_t bytes) {
    state.done_bytes += bytes;
    if (progress && !progress(state)) throw Error(Code::cancelled, "the import was cancelled", file.where());
  };
  GgufWeights weights(file, folder, options.precision, advance);
  build_llama_graph(config, options.activations, weights);
  weights.write_model(file.where());
  return weights.rounded_tensors();
}

std::vector<std::string> notes_on(int64_t rounded, const GgufTokenizer& tokenizer) {
  std::vector<std::string> notes;
  if (rounded > 0) {
    notes.push_back(
        fmt::format("{} tensors have 5-bit blocks with offsets, or are tables of 4-bit blocks with offsets; "
                    "no standard operator holds them, so they were rounded to 8 bits",
                    rounded));
  }
  if (tokenizer.chat_templates.empty()) notes.push_back("the file has no chat template");
  return notes;
}

}  // namespace

ImportReport import_model(const ImportOptions& options, const Progress& progress) {
  std::error_code ignored;
  if (std::filesystem::is_directory(options.source, ignored)) {
    throw Error(Code::unsupported, "the source is a folder, expected a GGUF file", options.source.string(),
                "give the path of a .gguf file");
  }
  const auto file = GgufFile::open(options.source);
  const LlamaConfig config = read_llama_config(*file);
  const GgufTokenizer tokenizer = read_gguf_tokenizer(*file);
  expect_room_for_tokens(*file, config, tokenizer);
  const ModelCard card = read_card(*file);

  NewFolder folder(options.target, options.overwrite);
  const int64_t rounded = write_graph(*file, config, options, folder.path(), progress);
  write_package_files(folder.path(), config, tokenizer, card);

  ImportReport report{.architecture = config.architecture, .name = card.name, .license = card.license};
  for (const GgufTensor& tensor : file->tensors()) report.parameters += tensor.count();
  report.source_bytes = file->bytes();
  report.target_bytes = bytes_below(folder.path());
  report.notes = notes_on(rounded, tokenizer);
  folder.publish();
  return report;
}

}  // namespace genai
