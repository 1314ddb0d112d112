// Chooses the next token of one sequence from its logits.
//
//   SamplingState state(options, seed, choice);
//   TokenId next = sampler.pick(logits, state, tokens, prompt, constraint);
//
// Order: logit bias, suppressed tokens, repetition / frequency / presence, DRY, constraint; then temperature, top-k,
// top-p, min-p, top-a, typical, mirostat, XTC, and one draw. Greedy: the largest, ties lowest id. Threads: one. Errors:
// pick throws Error when the logits hold NaN or +∞, or when no token is left. The draw depends on
//          seed, choice and position alone.
#pragma once

#include <span>
#include <vector>

#include "gen/candidates.h"
#include "gen/mirostat.h"
#include "gen/penalties.h"
#include "gen/sampling_options.h"
#include "gen/token_constraint.h"

namespace genai {

// What the sampler remembers of one sequence.
struct SamplingState {
  SamplingState(const SamplingOptions& o, uint64_t seed_, uint32_t choice_)
      : options(o), seed(seed_), choice(choice_), mirostat(o.mirostat) {}
  SamplingOptions options;
  uint64_t seed;
  uint32_t choice;  // which of the request's answers
  TokenCounts counts;
  MirostatState mirostat;
};

class Sampler {
 public:
  // logits: [vocab], unchanged. tokens: the whole sequence so far, the first `prompt` of them its prompt.
  TokenId pick(std::span<const float> logits, SamplingState& state, std::span<const TokenId> tokens, int64_t prompt,
               TokenConstraint* constraint = nullptr);

 private:
  std::span<const float> process(std::span<const float> logits, SamplingState& state, std::span<const TokenId> tokens,
                                 int64_t prompt, TokenConstraint* constraint);
  TokenId draw(std::span<const float> logits, SamplingState& state, int64_t position);

  std::vector<float> work_;  // reused: the processed copy of the logits
  Candidates candidates_;
};

}  // namespace genai
