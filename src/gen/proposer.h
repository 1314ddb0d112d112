// Guesses what sequences say next, so that one step of the model can check several tokens at once.
//
//   std::vector<Ask> asks = {{.sequence = &s, .sampling = &state, .most = 4}};
//   proposer.propose(asks);                       // asks[0].proposal: at most 4 tokens
//   …forward, sample…  proposer.learn(asks[0], 0, said);  // and so on, token by token
//
// A guess is never believed: the sampler draws every token from the model's own logits, at the position's own random
// number, and the proposal stands as far as it agrees. For a guess that is a single token this is rejection sampling
// (a token x stays with probability p(x), another comes from p without x), and the text is the text without guessing,
// at any temperature.
//
// Threads: one. Errors: none; who can't guess proposes nothing.
#pragma once

#include <span>
#include <vector>

#include "gen/sampler.h"
#include "gen/sequence.h"

namespace genai {

struct Proposal {
  std::vector<TokenId> tokens;
  std::vector<float> chance;  // [tokens]: that this token is right, should all before it be
};

struct Ask {
  const Sequence* sequence = nullptr;  // decoding: all its tokens but the last are in the model's cache
  const SamplingState* sampling = nullptr;
  int most = 0;  // tokens wanted
  Proposal proposal;
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual void propose(std::span<Ask> asks) = 0;
  // The sequence's token `index` after this proposal was made is `said`; called for 0, 1, … until one differs from the
  // proposal, whether or not the model was given these tokens to check.
  virtual void learn(const Ask& ask, size_t index, TokenId said) = 0;
  virtual void forget(SequenceId sequence) = 0;
};

}  // namespace genai
