// Proposes what a second, smaller decoder with the same vocabulary would say.
//
//   DraftModel draft(std::move(decoder), 64 << 20, vocab_size, clock_ms);
//   draft.propose(asks);    // all sequences together: one forward step of the draft per proposed token
//
// It follows each sequence in a cache of its own: what it guessed right needs no second pass, what it guessed wrong is
// written over, a long prompt is read in pieces over several steps (until then it proposes nothing), equal prompts are
// read once. It chooses as the sequence itself does, with the same options at the same random number, so a good draft
// is right at any temperature.
//
// Threads: one. Errors: the constructor throws Error for a decoder that can't draft; propose throws what the decoder
// and the sampler throw. Memory: kv_bytes, reserved once; without room for a sequence it proposes nothing for it.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "gen/hit_rates.h"
#include "gen/kv_cache.h"
#include "gen/proposer.h"
#include "gen/row_cost.h"

namespace genai {

class DraftModel : public Proposer {
 public:
  DraftModel(std::shared_ptr<DecoderModel> model, int64_t kv_bytes, int vocab_size, std::function<double()> clock_ms);
  ~DraftModel() override;

  void propose(std::span<Ask> asks) override;
  void learn(const Ask& ask, size_t index, TokenId said) override;
  void forget(SequenceId sequence) override;

  double chance(SequenceId sequence) const;  // that its next token is right
  const RowCost& cost() const { return cost_; }
  int64_t kv_resident_bytes() const { return cache_.resident_bytes(); }
  void trim() { cache_.trim(); }  // gives the memory of free blocks back to the system

 private:
  // A sequence as far as the draft knows it.
  struct Mirror {
    Sequence sequence;           // its confirmed tokens
    std::vector<TokenId> ahead;  // tokens whose rows lie in the cache beyond `computed`, confirmed or not
    std::vector<int> grades;     // of the latest proposal
    HitRates rates;
    double right = 0;  // share of recent proposals that were right
  };
  struct Drafting {
    Ask* ask;
    Mirror* mirror;
    SamplingState sampling;       // goes on as the sequence's would
    std::vector<TokenId> tokens;  // the sequence's, and the proposal
    double chain = 1;             // chance that the proposal so far stands
  };
  Mirror& mirror_of(const Ask& ask);
  static void follow(KvCache& cache, Mirror& mirror, const Sequence& sequence);
  std::vector<Drafting> catch_up(std::span<Ask> asks);
  void choose(std::vector<Drafting>& drafting);
  void extend(std::vector<Drafting>& drafting);
  void forward(std::span<const StepSequence> sequences, size_t logits_rows);

  const std::shared_ptr<DecoderModel> model_;
  const std::function<double()> clock_ms_;
  const size_t vocab_size_;
  KvCache cache_;
  Sampler sampler_;
  RowCost cost_;
  std::unordered_map<SequenceId, std::unique_ptr<Mirror>> mirrors_;
  std::vector<float> logits_;  // [rows, the draft's vocabulary]
  HitRates all_;
  double right_;
};

}  // namespace genai
