// Who runs in the next step, and how many tokens each: all running decodes, then prompt chunks up to what StepCost
// allows.
//
//   scheduler.add(sequence);
//   while (Batch batch = scheduler.next(); !batch.slots.empty()) { …forward…; scheduler.settle(batch, ms); …sample… }
//
// Order: higher priority first, then earlier arrival. Admission sets blocks aside for the prompt and the next
// `reserve_tokens` of the answer; who doesn't fit waits, and nobody of the same or lower priority overtakes. When
// blocks run out all the same, the least important running sequence loses its blocks and later computes them again: its
// tokens don't change. A dense model runs one sequence per step, in turn.
//
// Threads: one. Errors: none; what can never fit is refused before add() (see engine.h).
// Memory:  sequences belong to the caller and stay where they are between add() and remove().
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gen/kv_cache.h"
#include "gen/step_cost.h"

namespace genai {

struct SchedulerOptions {
  int max_sequences = 16;        // rows of the batch
  int max_step_rows = 512;       // tokens per step
  double max_step_ms = 150;      // longest gap between two tokens of a running stream
  int64_t reserve_tokens = 512;  // of an answer, set aside when it is admitted
};

struct Slot {
  Sequence* sequence = nullptr;
  int rows = 0;                       // >= 1
  int logits_rows = 0;                // 0: a prompt chunk that isn't the last
  bool samples = false;               // the last row's logits choose the next token
  std::span<const TokenId> proposal;  // the last rows check these guesses; their logits choose further tokens
};

struct Batch {
  std::vector<Slot> slots;
  int decode_rows = 0, prompt_rows = 0;
};

class Scheduler {
 public:
  Scheduler(const SchedulerOptions& options, KvCache& cache)
      : options_(options), cache_(cache), cost_(options.max_step_ms, options.max_step_rows) {}

  void add(Sequence& sequence);
  void remove(Sequence& sequence);  // its blocks stay with it
  Batch next();
  int room(const Batch& batch) const { return options_.max_step_rows - batch.decode_rows - batch.prompt_rows; }
  // A decoding slot checks as much of `proposal` as there is room for without taking a block that was set aside for
  // another sequence. The proposal must live as long as the batch.
  void widen(Batch& batch, Slot& slot, std::span<const TokenId> proposal);
  void settle(const Batch& batch, double ms);  // the batch's rows are in the cache; those of proposals don't count yet

  int waiting() const { return static_cast<int>(waiting_.size()); }
  int running() const { return static_cast<int>(running_.size()); }
  int64_t preemptions() const { return preemptions_; }
  const StepCost& cost() const { return cost_; }

 private:
  void admit();
  bool admit(Sequence& sequence);
  bool reserve(Sequence& sequence);
  int64_t outstanding() const;  // blocks set aside and not taken yet
  bool preempt_below(int priority);
  void preempt(Sequence& sequence);
  bool make_room(Sequence& sequence, int64_t rows, Batch& batch);
  void plan_decodes(Batch& batch);
  void plan_prompts(Batch& batch);
  void plan_dense(Batch& batch);
  int chunk_rows(const Sequence& sequence, int budget) const;
  bool being_computed(const Sequence& sequence, const Batch& batch) const;

  SchedulerOptions options_;
  KvCache& cache_;
  StepCost cost_;
  std::vector<Sequence*> waiting_, running_;  // most important first
  SequenceId last_dense_;
  int64_t preemptions_ = 0;
};

}  // namespace genai
