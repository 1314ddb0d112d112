#include "gen/dry.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

namespace genai {
namespace {
// z[i]: how many tokens of the reversed text from i on equal its beginning, that is: how long the text up to n − 1 − i
// and the whole text end alike. Linear (Gusfield's Z algorithm).
std::vector<int64_t> common_endings(std::span<const TokenId> tokens) {
  const int64_t n = static_cast<int64_t>(tokens.size());
  const auto at = [&](int64_t i) { return tokens[n - 1 - i]; };
  std::vector<int64_t> z(tokens.size(), 0);
  for (int64_t i = 1, begin = 0, end = 0; i < n; ++i) {
    if (i < end) z[i] = std::min(end - i, z[i - begin]);
    while (i + z[i] < n && at(z[i]) == at(i + z[i])) ++z[i];
    if (i + z[i] > end) {
      begin = i;
      end = i + z[i];
    }
  }
  return z;
}
}  // namespace

void apply_dry(const DryOptions& options, std::span<const TokenId> tokens, std::span<float> logits) {
  if (options.multiplier == 0) return;
  if (options.window > 0 && tokens.size() > static_cast<size_t>(options.window)) tokens = tokens.last(options.window);
  const int64_t n = static_cast<int64_t>(tokens.size());
  const auto breaks = [&](TokenId token) {
    return std::find(options.breakers.begin(), options.breakers.end(), token) != options.breakers.end();
  };
  int64_t reach = 0;  // tokens at the end without a breaker
  while (reach < n && !breaks(tokens[n - 1 - reach])) ++reach;
  if (reach < options.allowed_length) return;

  std::unordered_map<TokenId, int64_t> longest;
  const std::vector<int64_t> z = common_endings(tokens);
  for (int64_t i = 1; i < n; ++i) {
    const int64_t length = std::min(z[i], reach);
    if (length < options.allowed_length) continue;
    int64_t& best = longest[tokens[n - i]];
    best = std::max(best, length);
  }
  for (const auto& [token, length] : longest) {
    const double penalty = options.multiplier * std::pow(options.base, length - options.allowed_length);
    logits[token.value] -= static_cast<float>(std::min(penalty, 1e30));
  }
}

}  // namespace genai
