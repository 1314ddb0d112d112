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
// Rejected rows leave nothing to undo: they lie beyond `computed`, are never shared and are written again by the next
// step.
//
// Threads: one, the engine's. Errors: none.
#pragma once

#include <memory>
#include <optional>

#include "gen/prompt_lookup.h"
#include "gen/row_cost.h"
#include "gen/scheduler.h"

namespace genai {

struct SpeculationOptions {
  bool prompt_lookup = false;
  int most = 15;  // tokens proposed per sequence and step
};

class Speculation {
 public:
  Speculation(const SpeculationOptions& options, Scheduler& scheduler);

  bool enabled() const { return lookup_.has_value(); }
  // asks: the batch's decoding sequences that may speculate, `most` as far as their limits allow.
  void widen(Batch& batch, std::vector<Ask> asks);
  void record(const Batch& batch, double ms);
  void learn(SequenceId sequence, size_t index, TokenId said);
  void forget(SequenceId sequence);

 private:
  struct Choice;
  std::vector<Choice> choices(Batch& batch);
  void choose(const Batch& batch, std::vector<Choice>& choices) const;
  double step_ms(const Batch& batch, int extra) const;

  SpeculationOptions options_;
  Scheduler& scheduler_;
  std::optional<PromptLookup> lookup_;
  RowCost cost_;
  std::vector<Ask> asks_;  // of the current step
};

}  // namespace genai
