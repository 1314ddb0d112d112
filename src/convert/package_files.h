// The text files of a model folder beside its graph, as onnxruntime-genai's builder and Hugging Face write them.
//
// Threads: one. Errors: Error{io} naming the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "convert/gguf_tokenizer.h"
#include "convert/llama_config.h"

namespace genai {

struct ModelCard {
  std::string name, license, license_link, source;  // of general.*; the source file's name
  std::optional<uint64_t> random_seed;              // the weights are random: config.json and LICENSE say so
};

// genai_config.json, config.json, generation_config.json, tokenizer.json, tokenizer_config.json,
// special_tokens_map.json, LICENSE, and chat_template.jinja when there is one.
void write_package_files(const std::filesystem::path& folder, const LlamaConfig& config, const GgufTokenizer& tokenizer,
                         const ModelCard& card);

int64_t bytes_below(const std::filesystem::path& folder);  // of the files in it

}  // namespace genai
