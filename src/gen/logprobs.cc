#include "gen/logprobs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace genai {

TokenLogprob logprob_of(std::span<const float> logits, TokenId token, int top) {
  const float highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - highest);
  const double log_sum = highest + std::log(sum);
  const auto logprob = [&](int32_t id) { return static_cast<float>(logits[id] - log_sum); };

  TokenLogprob result{.token = token, .logprob = logprob(token.value), .top = {}};
  const size_t count = std::min(static_cast<size_t>(std::max(top, 0)), logits.size());
  if (count == 0) return result;
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::partial_sort(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(count), ids.end(),
                    [&](int32_t a, int32_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  for (size_t i = 0; i < count; ++i) result.top.push_back({TokenId(ids[i]), logprob(ids[i])});
  return result;
}

}  // namespace genai
