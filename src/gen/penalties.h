// Repetition, frequency and presence penalties, over counts that follow the sequence token by token.
//
//   counts.follow(tokens, prompt, window);  apply_penalties(options, counts, logits);
//
// repetition: each distinct token of the window (prompt included) once: a positive logit / penalty, another · penalty.
// frequency, presence: generated tokens only: − count · frequency − presence.
#pragma once

#include <span>
#include <unordered_map>

#include "gen/sampling_options.h"

namespace genai {

class TokenCounts {
 public:
  // Reads the tokens that came since the last call; `tokens` only ever grows.
  void follow(std::span<const TokenId> tokens, int64_t prompt, int window);

  const std::unordered_map<TokenId, int>& in_window() const { return in_window_; }
  const std::unordered_map<TokenId, int>& generated() const { return generated_; }

 private:
  std::unordered_map<TokenId, int> in_window_, generated_;
  int64_t read_ = 0, dropped_ = 0;
};

void apply_penalties(const SamplingOptions& options, const TokenCounts& counts, std::span<float> logits);

}  // namespace genai
