// Log probabilities of the model's own distribution: before bias, penalties, temperature and filters.
#pragma once

#include <span>
#include <vector>

#include "gen/ids.h"

namespace genai {

struct TopLogprob {
  TokenId token;
  float logprob = 0;
};

struct TokenLogprob {
  TokenId token;
  float logprob = 0;
  std::vector<TopLogprob> top;  // most likely first, ties lowest id first
};

// logits: [vocab], finite or −∞ (−∞ has logprob −∞).
TokenLogprob logprob_of(std::span<const float> logits, TokenId token, int top);

}  // namespace genai
