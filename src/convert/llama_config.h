// The dimensions and constants of a llama-like decoder, as its GGUF metadata states them.
//
// Architectures: llama (also Mistral, SmolLM2, TinyLlama, Llama 3.x), qwen2, qwen3.
// Threads: a value. Errors: Error naming the key; what this program can't build (experts, YaRN, …) is
// Code::unsupported.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/gguf_file.h"

namespace genai {

struct LlamaConfig {
  std::string architecture;
  int64_t layers = 0, hidden = 0, feed_forward = 0, heads = 0, kv_heads = 0, head_size = 0, vocab = 0, context = 0;
  float epsilon = 0;
  double rope_base = 10000.0;
  double rope_linear_factor = 1.0;       // positions are divided by it
  std::vector<float> rope_divisors;      // of each pair's frequency; empty: 1
  bool interleaved_rotary_rows = false;  // the file stores q and k rows pair by pair
  bool tied_embeddings = false;          // the output head is the embedding
};

LlamaConfig read_llama_config(const GgufFile& file);

}  // namespace genai
