// Proposes what followed the latest tokens the last time they stood in the sequence, prompt or answer: quotes, code,
// lists and summaries repeat what was said.
//
//   PromptLookup lookup;  lookup.propose(asks);
//
// Each sequence has an index of its runs of kLeast tokens that grows with it: constant time per token, 8 to 16 bytes
// per token. Of at most kCandidates earlier places the one with the longest common ending counts, the latest of equals.
// The chance of a proposal is the share of recent ones with a common ending as long that were right, of this sequence
// and, at first, of all.
//
// Threads: one. Errors: none.
#pragma once

#include <unordered_map>

#include "gen/hit_rates.h"
#include "gen/proposer.h"

namespace genai {

// The latest places where the same kLeast tokens ended.
class RunIndex {
 public:
  static constexpr int64_t kLeast = 3;     // shorter common endings say little
  static constexpr int64_t kLongest = 32;  // longer ones are as good as this
  static constexpr int kCandidates = 16;

  // Reads tokens that came since; `tokens` only ever grows.
  void follow(std::span<const TokenId> tokens);

  struct Match {
    int64_t next = 0;    // the position after the earlier place
    int64_t length = 0;  // of the common ending; 0: no match
  };
  // Of the end of `tokens`, all of which but the last token were followed.
  Match longest(std::span<const TokenId> tokens) const;

 private:
  static uint32_t hash(std::span<const TokenId> tokens, int64_t last);
  void insert(std::span<const TokenId> tokens, int64_t last);
  void grow(std::span<const TokenId> tokens);

  std::vector<int32_t> latest_;   // [power of two], by hash: last position of the latest run, −1: none
  std::vector<int32_t> earlier_;  // [tokens read]: the one before it
};

class PromptLookup : public Proposer {
 public:
  PromptLookup();
  void propose(std::span<Ask> asks) override;
  void learn(const Ask& ask, size_t index, TokenId said) override;
  void forget(SequenceId sequence) override { histories_.erase(sequence); }

 private:
  struct History {
    RunIndex index;
    HitRates rates;
    int64_t matched = 0;  // length of the common ending of the latest proposal
  };
  float chance(const History& history, int64_t length) const;

  std::unordered_map<SequenceId, History> histories_;
  HitRates all_;
};

}  // namespace genai
