#include "gen/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gen/dry.h"
#include "gen/philox.h"

namespace genai {
namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Largest {
  float value = -kInfinity;
  bool valid = true;  // no NaN, no +∞
};

// Eight running maxima, so that the compiler can keep them in one vector register.
Largest largest_of(std::span<const float> logits) {
  constexpr size_t kLanes = 8;
  float best[kLanes];
  int wrong[kLanes] = {};
  std::fill(best, best + kLanes, -kInfinity);
  const size_t whole = logits.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float x = logits[i + lane];
      best[lane] = x > best[lane] ? x : best[lane];
      wrong[lane] |= !(x < kInfinity);
    }
  }
  Largest result;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    result.value = std::max(result.value, best[lane]);
    result.valid &= wrong[lane] == 0;
  }
  for (size_t i = whole; i < logits.size(); ++i) {
    result.value = std::max(result.value, logits[i]);
    result.valid &= logits[i] < kInfinity;
  }
  return result;
}

void forbid(TokenConstraint& constraint, std::span<float> logits) {
  const std::span<const uint64_t> allowed = constraint.allowed();
  if (allowed.empty()) return;
  for (size_t i = 0; i < logits.size(); ++i) {
    const bool may = i / 64 < allowed.size() && (allowed[i / 64] >> (i % 64) & 1) != 0;
    if (!may) logits[i] = -kInfinity;
  }
}
}  // namespace

TokenId Sampler::pick(std::span<const float> logits, SamplingState& state, std::span<const TokenId> tokens,
                      int64_t prompt, TokenConstraint* constraint) {
  const int64_t position = static_cast<int64_t>(tokens.size());
  Largest largest = largest_of(logits);
  if (!largest.valid || largest.value == -kInfinity) {
    throw Error(Code::internal,
                fmt::format("the model's logits at position {} hold {}, expected finite numbers", position,
                            largest.valid ? "only -inf" : "NaN or +inf"),
                {}, "check the model file and its weights");
  }
  if (constraint != nullptr || changes_logits(state.options)) {
    logits = process(logits, state, tokens, prompt, constraint);
    largest = largest_of(logits);
    if (!largest.valid || largest.value == -kInfinity) {
      throw Error(Code::invalid_argument,
                  fmt::format("no token may follow at position {}: bias, suppressed tokens and constraint exclude all",
                              position));
    }
  }
  if (is_greedy(state.options)) {
    return TokenId(static_cast<int32_t>(std::find(logits.begin(), logits.end(), largest.value) - logits.begin()));
  }
  return draw(logits, state, position);
}

std::span<const float> Sampler::process(std::span<const float> logits, SamplingState& state,
                                        std::span<const TokenId> tokens, int64_t prompt, TokenConstraint* constraint) {
  const SamplingOptions& options = state.options;
  work_.assign(logits.begin(), logits.end());
  for (const auto& [token, bias] : options.logit_bias) work_[token.value] += bias;
  for (const TokenId token : options.suppress_tokens) work_[token.value] = -kInfinity;
  if (options.repetition_penalty != 1 || options.frequency_penalty != 0 || options.presence_penalty != 0) {
    state.counts.follow(tokens, prompt, options.repetition_window);
    apply_penalties(options, state.counts, work_);
  }
  apply_dry(options.dry, tokens, work_);
  if (constraint != nullptr) forbid(*constraint, work_);
  return work_;
}

TokenId Sampler::draw(std::span<const float> logits, SamplingState& state, int64_t position) {
  const SamplingOptions& options = state.options;
  const uint64_t at = static_cast<uint64_t>(position);
  candidates_.assign(logits, options.temperature, options.top_k);
  candidates_.keep_top_p(options.top_p);
  candidates_.keep_min_p(options.min_p);
  candidates_.keep_top_a(options.top_a);
  candidates_.keep_typical(options.typical_p);
  state.mirostat.cut(candidates_);
  if (options.xtc.probability > 0 &&
      uniform(state.seed, at, Draw::xtc, state.choice) < static_cast<double>(options.xtc.probability)) {
    candidates_.drop_above(options.xtc.threshold);
  }
  const Candidate& chosen = candidates_.draw(uniform(state.seed, at, Draw::token, state.choice));
  state.mirostat.observe(chosen.p);
  return TokenId(chosen.token);
}

}  // namespace genai
