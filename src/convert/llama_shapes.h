// The shape of a llama-like decoder without its weights: from a Hugging Face config.json, or by a name such as "7B".
//
//   LlamaConfig config = read_llama_shape("1B");   // or "some/config.json", or a folder that has one
//
// Threads: pure functions. Errors: Error naming the file and the key; what this program can't build (experts, other
// activations or rotary scalings) is Code::unsupported.
#pragma once

#include <string>

#include "convert/llama_config.h"

namespace genai {

LlamaConfig read_llama_shape(const std::string& name_or_path);
std::string known_llama_shapes();  // "135M, 1B, …", for help and errors

}  // namespace genai
