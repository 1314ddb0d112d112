// The kinds of file that describe a model, each filling what is still open in a ModelSpec.
//
// Threads: one. Errors: Error naming file, key, the value found and what was expected.
#pragma once

#include <filesystem>

#include "package/config_node.h"
#include "package/model_spec.h"

namespace genai {

// inference_metadata.{yaml,yml,json}. Refuses required capabilities this program has not, and workflows.
void apply_inference_metadata(const ConfigNode& root, ModelSpec& spec);

// genai_config.json as onnxruntime-genai's builder writes it. Refuses what is not a single decoder. Sets spec.decoder.
void apply_genai_config(const ConfigNode& root, ModelSpec& spec);

// config.json, generation_config.json, tokenizer_config.json, special_tokens_map.json, chat templates: those there are.
// True when config.json is there.
bool apply_hugging_face_files(ModelSpec& spec);

}  // namespace genai
