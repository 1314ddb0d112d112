#include "gen/speculation.h"

#include <algorithm>
#include <cmath>

namespace genai {
namespace {
constexpr double kLeastGain = 0.03;   // per sequence of the step: below it, measured times are too uncertain
constexpr double kNegligible = 0.01;  // a row that adds less isn't looked at
constexpr int kMostExtraRows = 64;    // of all sequences together
constexpr int kMostDrafted = 8;       // tokens per sequence and step
constexpr int kTrialDepth = 2;        // drafted to see whether it pays
constexpr int kFirstPatience = 16, kMostPatience = 1024;

double expected_tokens(const Proposal& proposal) {
  double expected = 0, chain = 1;
  for (const float chance : proposal.chance) expected += chain *= static_cast<double>(chance);
  return expected;
}

// 1 + a + a² + … + a^depth
double expected_tokens(double a, int depth) {
  double expected = 1, chain = 1;
  for (int i = 0; i < depth; ++i) expected += chain *= a;
  return expected;
}

Ask* ask_of(std::vector<Ask>& asks, SequenceId sequence) {
  const auto ask = std::find_if(asks.begin(), asks.end(), [&](const Ask& a) { return a.sequence->id == sequence; });
  return ask == asks.end() ? nullptr : &*ask;
}
}  // namespace

// How many rows of a proposal are taken, while choosing.
struct Speculation::Choice {
  Slot* slot;
  const Proposal* proposal;
  size_t rows = 0;
  double expected = 1;  // tokens of this step
  double chain = 1;     // chance that all rows so far stand

  double next_gain() const {
    if (rows == proposal->tokens.size()) return 0;
    return std::log1p(chain * static_cast<double>(proposal->chance[rows]) / expected);
  }
  void take() {
    chain *= static_cast<double>(proposal->chance[rows++]);
    expected += chain;
  }
};

Speculation::Speculation(const SpeculationOptions& options, Scheduler& scheduler, int vocab_size,
                         const std::function<double()>& clock_ms)
    : options_(options), scheduler_(scheduler), patience_(kFirstPatience) {
  if (options.prompt_lookup) lookup_.emplace();
  if (options.draft) draft_.emplace(options.draft, options.draft_kv_bytes, vocab_size, clock_ms);
}

void Speculation::widen(Batch& batch, std::vector<Ask> asks) {
  asks_ = std::move(asks);
  draft_asks_.clear();
  if (lookup_) lookup_->propose(asks_);
  if (!cost_.known()) return;
  if (draft_) ask_draft(batch);
  std::vector<Choice> candidates = choices(batch);
  choose(batch, candidates);
  for (const Choice& c : candidates) {
    if (c.rows > 0) scheduler_.widen(batch, *c.slot, std::span(c.proposal->tokens).first(c.rows));
  }
}

void Speculation::ask_draft(const Batch& batch) {
  int depth = draft_depth(batch);
  if (depth > 0) {
    patience_ = kFirstPatience;
  } else if (++untried_ >= patience_) {
    patience_ = std::min(2 * patience_, kMostPatience);
    depth = kTrialDepth;
  } else {
    return;
  }
  untried_ = 0;
  for (const Ask& ask : asks_) {
    const double drafted = expected_tokens(draft_->chance(ask.sequence->id), depth) - 1;
    if (expected_tokens(ask.proposal) >= drafted) continue;
    draft_asks_.push_back({ask.sequence, ask.sampling, std::min(ask.most, depth), {}});
  }
  draft_->propose(draft_asks_);
}

// Tokens to draft for each sequence; 0: it doesn't pay.
int Speculation::draft_depth(const Batch& batch) const {
  const auto sequences = static_cast<int>(asks_.size());
  if (sequences == 0) return 0;
  if (!draft_->cost().known()) return kTrialDepth;
  const auto streams = static_cast<double>(batch.slots.size());
  const double plain_ms = step_ms(batch, 0), draft_ms = draft_->cost().ms(sequences);
  double best = kLeastGain * streams;
  int best_depth = 0;
  for (int depth = 1; depth <= kMostDrafted; ++depth) {
    double gain = 0;
    for (const Ask& ask : asks_) gain += std::log(expected_tokens(draft_->chance(ask.sequence->id), depth));
    const double ms = step_ms(batch, depth * sequences) + depth * draft_ms;
    const double value = gain - streams * (plain_ms > 0 ? std::log(ms / plain_ms) : 0);
    if (value > best) best_depth = depth;
    best = std::max(best, value);
  }
  return best_depth;
}

std::vector<Speculation::Choice> Speculation::choices(Batch& batch) {
  std::vector<Choice> result;
  for (Slot& slot : batch.slots) {
    const Proposal* best = nullptr;
    for (std::vector<Ask>* asks : {&asks_, &draft_asks_}) {
      const Ask* ask = ask_of(*asks, slot.sequence->id);
      if (ask == nullptr || ask->proposal.tokens.empty()) continue;
      if (best == nullptr || expected_tokens(ask->proposal) > expected_tokens(*best)) best = &ask->proposal;
    }
    if (best != nullptr) result.push_back({.slot = &slot, .proposal = best});
  }
  return result;
}

void Speculation::choose(const Batch& batch, std::vector<Choice>& choices) const {
  const auto streams = static_cast<double>(batch.slots.size());
  const double plain_ms = step_ms(batch, 0);
  double gain = 0, best = kLeastGain * streams;
  std::vector<Choice> chosen = choices;
  const int room = std::min(kMostExtraRows, scheduler_.room(batch));
  for (int extra = 1; extra <= room; ++extra) {
    const auto next = std::max_element(choices.begin(), choices.end(),
                                       [](const Choice& a, const Choice& b) { return a.next_gain() < b.next_gain(); });
    if (next == choices.end() || next->next_gain() < kNegligible) break;
    gain += next->next_gain();
    next->take();
    const double longer = plain_ms > 0 ? step_ms(batch, extra) / plain_ms : 1;
    const double value = gain - streams * std::log(longer);
    if (value <= best) continue;
    best = value;
    chosen = choices;
  }
  choices = std::move(chosen);
}

double Speculation::step_ms(const Batch& batch, int extra) const {
  return cost_.ms(batch.decode_rows + extra) + batch.prompt_rows * scheduler_.cost().prompt_row_ms();
}

void Speculation::record(const Batch& batch, double ms) {
  if (batch.prompt_rows == 0) cost_.record(batch.decode_rows, ms);
}

void Speculation::learn(SequenceId sequence, size_t index, TokenId said) {
  if (const Ask* ask = ask_of(asks_, sequence); lookup_ && ask != nullptr) lookup_->learn(*ask, index, said);
  if (const Ask* ask = ask_of(draft_asks_, sequence); draft_ && ask != nullptr) draft_->learn(*ask, index, said);
}

void Speculation::forget(SequenceId sequence) {
  for (std::vector<Ask>* asks : {&asks_, &draft_asks_}) {
    std::erase_if(*asks, [&](const Ask& a) { return a.sequence->id == sequence; });
  }
  if (lookup_) lookup_->forget(sequence);
  if (draft_) draft_->forget(sequence);
}

}  // namespace genai
