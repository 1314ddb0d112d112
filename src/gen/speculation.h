// Speculation inside the batch: lets the sequences of a step check proposed tokens in further rows of the same step, as
// many as pay.
//
//   speculation.widen(batch, asks);             // after the scheduler, before forward
//   …forward…  speculation.record(batch, ms);
//   …sample…   speculation.learn(slot, index, token);
//
// How many pay: a row's gain is what it adds to the tokens its sequence may expect of this step, its cost what it adds
// to the step's time. Of all ways to widen the step the one with the largest sum over sequences of log(expected tokens
// ÷ time) is taken, so that one stream gains no more than the others lose, and none at all if that isn't a few percent
// better than not widening. So it is off where nothing repeats, and where many rows keep the machine busy anyway.
//
// Guesses come from the sequence's own text (PromptLookup), which costs nothing and is therefore judged all the time,
// and from a draft model, whose steps count as cost; while it doesn't pay it is tried again ever more rarely.
//
// Rejected rows leave nothing to undo: they lie beyond `computed`, are never shared and are written again by the next
// step.
//
// Threads: one, the engine's. Errors: the constructor throws what DraftModel's throws; widen throws what the draft
// throws, and leaves the batch as it was.
#pragma once

#include <memory>
#include <optional>

#include "gen/draft_model.h"
#include "gen/prompt_lookup.h"
#include "gen/row_cost.h"
#include "gen/scheduler.h"

namespace genai {

struct SpeculationOptions {
  bool prompt_lookup = false;
  std::shared_ptr<DecoderModel>
      draft;  // paged, with the model's vocabulary (gen/load_model.h, load_draft); may be null
  int64_t draft_kv_bytes = int64_t{1} << 28;
  int most = 15;  // tokens proposed per sequence and step
  bool on() const { return prompt_lookup || draft != nullptr; }
};

class Speculation {
 public:
  Speculation(const SpeculationOptions& options, Scheduler& scheduler, int vocab_size,
              const std::function<double()>& clock_ms);

  bool enabled() const { return lookup_ || draft_; }
  void drop_draft() { draft_.reset(); }  // after it failed
  // asks: the batch's decoding sequences that may speculate, `most` as far as their limits allow.
  void widen(Batch& batch, std::vector<Ask> asks);
  void record(const Batch& batch, double ms);
  void learn(SequenceId sequence, size_t index, TokenId said);
  void forget(SequenceId sequence);
  int64_t kv_resident_bytes() const { return draft_ ? draft_->kv_resident_bytes() : 0; }
  void trim() {
    if (draft_) draft_->trim();
  }

 private:
  struct Choice;
  void ask_draft(const Batch& batch);
  int draft_depth(const Batch& batch) const;
  std::vector<Choice> choices(Batch& batch);
  void choose(const Batch& batch, std::vector<Choice>& choices) const;
  double step_ms(const Batch& batch, int extra) const;

  SpeculationOptions options_;
  Scheduler& scheduler_;
  std::optional<PromptLookup> lookup_;
  std::optional<DraftModel> draft_;
  RowCost cost_;
  std::vector<Ask> asks_, draft_asks_;  // of the current step
  int untried_ = 0, patience_;  // steps since the draft was asked; after so many it is asked though it doesn't pay
};

}  // namespace genai
