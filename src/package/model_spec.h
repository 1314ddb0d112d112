// What a model folder says, whatever files say it.
//
//   ModelSpec spec = open_model_folder("models/smollm2");
//
// First found wins: inference_metadata.{yaml,yml,json}, genai_config.json, Hugging Face files, else roles from the
// graph. Threads: a value. Errors: Error naming file, key, the value found and what was expected. An unknown *required*
// capability is refused; unknown other keys are ignored.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace genai {

// Names of the decoder's graph inputs and outputs; "%d" stands for the layer. Empty: not declared, the binding looks.
struct DecoderRoles {
  std::string input_ids, attention_mask, position_ids, logits;
  std::string past_key, past_value, present_key, present_value;  // "past_key_values.%d.key"
};

// What the package asks for when the request says nothing. Absent: the engine's default.
struct GenerationDefaults {
  std::optional<bool> do_sample;
  std::optional<float> temperature, top_p, min_p, repetition_penalty;
  std::optional<int> top_k, max_length;
  std::vector<TokenId> eos;  // the set of ids that end a generation
  std::vector<TokenId> suppress_tokens;
};

struct ModelSpec {
  std::filesystem::path folder;
  std::filesystem::path decoder;  // the .onnx
  std::filesystem::path tokenizer_json;
  std::string source;      // the file that described it: "genai_config.json"
  std::string model_type;  // "llama", as the package says; for people, never for decisions
  int context_length = 0;  // tokens; 0: unknown
  int vocab_size = 0;      // 0: unknown
  DecoderRoles roles;
  GenerationDefaults generation;
  std::optional<TokenId> bos, pad;
  std::string bos_token, eos_token;                   // text, for the chat template
  std::map<std::string, std::string> chat_templates;  // name → source; "" and "default" are the same one
};

ModelSpec open_model_folder(const std::filesystem::path& folder);

}  // namespace genai
