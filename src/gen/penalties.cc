#include "gen/penalties.h"

#include <algorithm>

namespace genai {

void TokenCounts::follow(std::span<const TokenId> tokens, int64_t prompt, int window) {
  const int64_t length = static_cast<int64_t>(tokens.size());
  const int64_t start = window > 0 ? std::max<int64_t>(0, length - window) : 0;
  for (; read_ < length; ++read_) {
    ++in_window_[tokens[read_]];
    if (read_ >= prompt) ++generated_[tokens[read_]];
  }
  for (; dropped_ < start; ++dropped_) {
    const auto it = in_window_.find(tokens[dropped_]);
    if (--it->second == 0) in_window_.erase(it);
  }
}

void apply_penalties(const SamplingOptions& options, const TokenCounts& counts, std::span<float> logits) {
  if (options.repetition_penalty != 1) {
    for (const auto& [token, count] : counts.in_window()) {
      float& logit = logits[token.value];
      logit = logit > 0 ? logit / options.repetition_penalty : logit * options.repetition_penalty;
    }
  }
  if (options.frequency_penalty == 0 && options.presence_penalty == 0) return;
  for (const auto& [token, count] : counts.generated()) {
    logits[token.value] -= static_cast<float>(count) * options.frequency_penalty + options.presence_penalty;
  }
}

}  // namespace genai
