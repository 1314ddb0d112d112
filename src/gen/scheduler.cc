#include "gen/scheduler.h"

#include <algorithm>

namespace genai {
namespace {
constexpr int kScoredRows = 64;  // logits of every row: [64, vocab] at a time is enough to keep the head busy

bool more_important(const Sequence* a, const Sequence* b) {
  return a->priority != b->priority ? a->priority > b->priority : a->arrival < b->arrival;
}

void insert_sorted(std::vector<Sequence*>& list, Sequence& sequence) {
  list.insert(std::upper_bound(list.begin(), list.end(), &sequence, more_important), &sequence);
}
}  // namespace

void Scheduler::add(Sequence& sequence) {
  sequence.running = false;
  insert_sorted(waiting_, sequence);
}

void Scheduler::remove(Sequence& sequence) {
  std::erase(waiting_, &sequence);
  std::erase(running_, &sequence);
  sequence.running = false;
}

Batch Scheduler::next() {
  // When the only sequence that could run has just given its blocks back, it can start again at once.
  for (int attempt = 0;; ++attempt) {
    const int64_t before = preemptions_;
    Batch batch;
    admit();
    if (cache_.paged()) {
      plan_decodes(batch);
      plan_prompts(batch);
    } else {
      plan_dense(batch);
    }
    if (!batch.slots.empty() || preemptions_ == before || attempt == 2) return batch;
  }
}

void Scheduler::widen(Batch& batch, Slot& slot, std::span<const TokenId> proposal) {
  Sequence& s = *slot.sequence;
  const auto held = static_cast<int64_t>(s.blocks.size());
  const int64_t own = std::max<int64_t>(0, blocks_for(s.reserved) - held);
  const int64_t obtainable = std::max<int64_t>(0, cache_.available() - outstanding() + own);
  const int64_t most = std::min<int64_t>(
      {static_cast<int64_t>(proposal.size()), room(batch), (held + obtainable) * kBlockTokens - s.length()});
  if (most <= 0 || !cache_.extend(s, 1 + most)) return;
  slot.proposal = proposal.first(static_cast<size_t>(most));
  slot.rows += static_cast<int>(most);
  slot.logits_rows += static_cast<int>(most);
  batch.decode_rows += static_cast<int>(most);
}

void Scheduler::settle(const Batch& batch, double ms) {
  for (const Slot& slot : batch.slots) {
    cache_.commit(*slot.sequence, slot.rows - static_cast<int64_t>(slot.proposal.size()));
  }
  cost_.record(batch.decode_rows, batch.prompt_rows, ms);
}

void Scheduler::admit() {
  for (size_t i = 0; i < waiting_.size();) {
    Sequence& sequence = *waiting_[i];
    const bool waits_for_leader = sequence.leader != nullptr && sequence.leader->computed + 1 < sequence.leader->prompt;
    if (sequence.paused || waits_for_leader) {
      ++i;  // can't run now, and keeps nobody else from running
    } else if (admit(sequence)) {
      std::erase(waiting_, &sequence);
      insert_sorted(running_, sequence);
      sequence.running = true;
    } else {
      return;
    }
  }
}

bool Scheduler::admit(Sequence& sequence) {
  while (running() >= options_.max_sequences || !reserve(sequence)) {
    if (!preempt_below(sequence.priority)) return false;
  }
  return true;
}

bool Scheduler::reserve(Sequence& sequence) {
  if (!cache_.paged()) return true;
  const bool fresh = sequence.computed == 0;
  const int64_t cached = sequence.cached, covered = sequence.covered;
  if (fresh && sequence.leader != nullptr) cache_.fork(*sequence.leader, sequence, sequence.prompt - 1);
  cache_.adopt_prefix(sequence);
  const int64_t tokens = std::min(sequence.limit, sequence.length() + options_.reserve_tokens);
  const int64_t missing = blocks_for(tokens) - static_cast<int64_t>(sequence.blocks.size());
  while (missing > cache_.available() - outstanding()) {
    if (cache_.release_oldest_parked()) continue;
    if (fresh) {
      cache_.release(sequence);
      sequence.cached = cached;
      sequence.covered = covered;
    }
    return false;
  }
  sequence.reserved = tokens;
  return true;
}

int64_t Scheduler::outstanding() const {
  int64_t blocks = 0;
  for (const Sequence* s : running_) {
    blocks += std::max<int64_t>(0, blocks_for(s->reserved) - static_cast<int64_t>(s->blocks.size()));
  }
  return blocks;
}

bool Scheduler::preempt_below(int priority) {
  if (running_.empty() || running_.back()->priority >= priority) return false;
  preempt(*running_.back());
  return true;
}

void Scheduler::preempt(Sequence& sequence) {
  ++preemptions_;
  remove(sequence);
  cache_.release(sequence);
  sequence.leader = nullptr;  // it has to compute the prompt itself now, or find it in the tree
  add(sequence);
}

bool Scheduler::make_room(Sequence& sequence, int64_t rows, Batch& batch) {
  while (!cache_.extend(sequence, rows)) {
    Sequence* victim = running_.back();
    std::erase_if(batch.slots, [&](const Slot& slot) {
      if (slot.sequence != victim) return false;
      batch.decode_rows -= slot.rows;  // prompts are planned most important first: a planned victim is a decode
      return true;
    });
    preempt(*victim);
    if (victim == &sequence) return false;
  }
  return true;
}

void Scheduler::plan_decodes(Batch& batch) {
  const std::vector<Sequence*> candidates = running_;
  for (Sequence* s : candidates) {
    if (!s->running || s->paused || !s->decoding()) continue;
    if (!make_room(*s, 1, batch)) continue;
    batch.slots.push_back({.sequence = s, .rows = 1, .logits_rows = 1, .samples = true});
    ++batch.decode_rows;
  }
}

void Scheduler::plan_prompts(Batch& batch) {
  int budget = cost_.prompt_rows(batch.decode_rows);
  const std::vector<Sequence*> candidates = running_;
  for (Sequence* s : candidates) {
    if (budget <= 0) return;
    if (!s->running || s->paused || s->decoding()) continue;
    cache_.adopt_prefix(*s);
    if (being_computed(*s, batch)) continue;
    const int rows = chunk_rows(*s, budget);
    if (!make_room(*s, rows, batch)) continue;
    const bool last = rows == s->pending();
    batch.slots.push_back({.sequence = s,
                           .rows = rows,
                           .logits_rows = s->score_prompt ? rows
                                          : last          ? 1
                                                          : 0,
                           .samples = last});
    batch.prompt_rows += rows;
    budget -= rows;
  }
}

int Scheduler::chunk_rows(const Sequence& sequence, int budget) const {
  if (sequence.score_prompt) budget = std::min(budget, kScoredRows);
  if (sequence.pending() <= budget) return static_cast<int>(sequence.pending());
  // A chunk that ends with a block lets others share it at once.
  const int beyond = static_cast<int>((sequence.computed + budget) % kBlockTokens);
  return beyond < budget ? budget - beyond : budget;
}

// The same block of the same prefix is in this step already: the next step finds it in the tree. Equal prefixes have
// equal block ids, so comparing the previous block and the next 16 tokens is enough.
bool Scheduler::being_computed(const Sequence& sequence, const Batch& batch) const {
  const int64_t at = sequence.computed;
  if (sequence.score_prompt || at % kBlockTokens != 0 || at + kBlockTokens >= sequence.length()) return false;
  return std::any_of(batch.slots.begin(), batch.slots.end(), [&](const Slot& slot) {
    const Sequence& other = *slot.sequence;
    if (other.computed > at || other.computed + slot.rows < at + kBlockTokens) return false;
    const bool same_prefix = at == 0 || (other.computed == at &&
                                         other.blocks[at / kBlockTokens - 1] == sequence.blocks[at / kBlockTokens - 1]);
    return same_prefix && std::equal(other.tokens.begin() + at, other.tokens.begin() + at + kBlockTokens,
                                     sequence.tokens.begin() + at);
  });
}

void Scheduler::plan_dense(Batch& batch) {
  // The next one after whoever ran last, in order of arrival.
  Sequence* chosen = nullptr;
  const bool others_decode =
      std::any_of(running_.begin(), running_.end(), [](const Sequence* s) { return !s->paused && s->decoding(); });
  const auto after_last = [&](const Sequence* s) { return s->id > last_dense_; };
  for (Sequence* s : running_) {
    if (s->paused) continue;
    const bool better = chosen == nullptr || (after_last(s) && !after_last(chosen)) ||
                        (after_last(s) == after_last(chosen) && s->id < chosen->id);
    if (better) chosen = s;
  }
  if (chosen == nullptr) return;
  last_dense_ = chosen->id;
  const int rows = chunk_rows(*chosen, cost_.prompt_rows(others_decode ? 1 : 0));
  const bool last = rows == chosen->pending();
  (chosen->decoding() ? batch.decode_rows : batch.prompt_rows) += rows;
  batch.slots.push_back({.sequence = chosen,
                         .rows = rows,
                         .logits_rows = chosen->score_prompt ? rows
                                        : last               ? 1
                                                             : 0,
                         .samples = last});
}

}  // namespace genai
