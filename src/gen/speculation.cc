#include "gen/speculation.h"

#include <algorithm>
#include <cmath>

namespace genai {
namespace {
constexpr double kLeastGain = 0.03;   // per sequence of the step: below it, measured times are too uncertain
constexpr double kNegligible = 0.01;  // a row that adds less isn't looked at
constexpr int kMostExtraRows = 64;    // of all sequences together
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

Speculation::Speculation(const SpeculationOptions& options, Scheduler& scheduler)
    : options_(options), scheduler_(scheduler) {
  if (options.prompt_lookup) lookup_.emplace();
}

void Speculation::widen(Batch& batch, std::vector<Ask> asks) {
  asks_ = std::move(asks);
  if (lookup_) lookup_->propose(asks_);
  if (!cost_.known()) return;
  std::vector<Choice> candidates = choices(batch);
  choose(batch, candidates);
  for (const Choice& c : candidates) {
    if (c.rows > 0) scheduler_.widen(batch, *c.slot, std::span(c.proposal->tokens).first(c.rows));
  }
}

std::vector<Speculation::Choice> Speculation::choices(Batch& batch) {
  std::vector<Choice> result;
  auto ask = asks_.begin();
  for (Slot& slot : batch.slots) {  // asks are in the order of the slots
    if (ask == asks_.end()) break;
    if (ask->sequence != slot.sequence) continue;
    if (!ask->proposal.tokens.empty()) result.push_back({.slot = &slot, .proposal = &ask->proposal});
    ++ask;
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
  const auto ask = std::find_if(asks_.begin(), asks_.end(), [&](const Ask& a) { return a.sequence->id == sequence; });
  if (ask != asks_.end() && lookup_) lookup_->learn(*ask, index, said);
}

void Speculation::forget(SequenceId sequence) {
  std::erase_if(asks_, [&](const Ask& a) { return a.sequence->id == sequence; });
  if (lookup_) lookup_->forget(sequence);
}

}  // namespace genai
