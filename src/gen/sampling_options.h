// How the next token is chosen. Defaults change nothing: temperature 1, no filter, no penalty.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "gen/ids.h"

namespace genai {

// Don't Repeat Yourself: a token that would extend a repetition of `length` tokens loses
// multiplier · base^(length − allowed_length).
struct DryOptions {
  float multiplier = 0;  // 0: off
  float base = 1.75f;
  int allowed_length = 2;
  int window = 0;                 // last tokens looked at; 0: all
  std::vector<TokenId> breakers;  // a repetition doesn't reach across these
};

struct MirostatOptions {
  int version = 0;   // 0 off, 1, 2
  float tau = 5;     // wanted surprise, in bits
  float eta = 0.1f;  // learning rate
};

// Exclude Top Choices: with `probability`, of all tokens at or above `threshold` only the least likely stays.
struct XtcOptions {
  float probability = 0;
  float threshold = 0.1f;
};

struct SamplingOptions {
  float temperature = 1;  // 0: greedy
  int top_k = 0;          // 0: off
  float top_p = 1, min_p = 0, top_a = 0, typical_p = 1;
  float repetition_penalty = 1;
  int repetition_window = 0;  // last tokens that count; 0: all
  float frequency_penalty = 0, presence_penalty = 0;
  std::vector<std::pair<TokenId, float>> logit_bias;
  std::vector<TokenId> suppress_tokens;
  DryOptions dry;
  MirostatOptions mirostat;
  XtcOptions xtc;
  std::optional<uint64_t> seed;  // absent: from the operating system
};

// Throws Error{invalid_argument} naming the field, its value and its bounds.
void validate(const SamplingOptions& options, int vocab_size);

bool is_greedy(const SamplingOptions& options);       // the most likely token, no draw
bool changes_logits(const SamplingOptions& options);  // any bias, suppression or penalty

}  // namespace genai
