#include "gen/draft_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace genai {
namespace {

constexpr int kCatchUpRows = 128;    // of all sequences together before each step of the model
constexpr double kLeastChain = 0.2;  // a proposal isn't drafted further once it stands with less than this chance
constexpr double kFirstRight = 0.6, kForgetOwn = 0.08, kForgetAll = 0.01;
constexpr float kKeepAll = 0.99f, kKeepOwn = 0.95f, kWeightOfAll = 4, kFirstTries = 20;
constexpr HitRates::Shares kFirstShares = {0.35f, 0.5f, 0.65f, 0.8f, 0.95f};

// By how far the most likely token leads: in logits, up to 0.5 | 1 | 2 | 4 | more.
int grade_of(std::span<const float> logits) {
  float first = -std::numeric_limits<float>::infinity(), second = first;
  for (const float x : logits) {
    second = std::max(second, std::min(first, x));
    first = std::max(first, x);
  }
  const float lead = first - second;
  return (lead > 0.5f) + (lead > 1) + (lead > 2) + (lead > 4);
}

}  // namespace

DraftModel::DraftModel(std::shared_ptr<DecoderModel> model, int64_t kv_bytes, int vocab_size,
                       std::function<double()> clock_ms)
    : model_(std::move(model)),
      clock_ms_(std::move(clock_ms)),
      vocab_size_(static_cast<size_t>(vocab_size)),
      cache_(*model_, kv_bytes),
      all_(kFirstShares, kFirstTries),
      right_(kFirstRight) {
  if (!model_->paged()) {
    throw Error(Code::unsupported, "the draft model runs on the dense path, drafting needs the paged one",
                "the draft model", "use another draft model");
  }
  if (model_->vocab_size() < vocab_size) {
    throw Error(Code::invalid_argument,
                fmt::format("the draft model has {} tokens, the model {}", model_->vocab_size(), vocab_size),
                "the draft model", "use a draft model with the same vocabulary");
  }
}

DraftModel::~DraftModel() {
  for (const auto& [id, mirror] : mirrors_) cache_.release(mirror->sequence);
}

void DraftModel::forget(SequenceId sequence) {
  const auto known = mirrors_.find(sequence);
  if (known == mirrors_.end()) return;
  cache_.release(known->second->sequence);
  mirrors_.erase(known);
}

double DraftModel::chance(SequenceId sequence) const {
  const auto known = mirrors_.find(sequence);
  return known == mirrors_.end() ? right_ : known->second->right;
}

DraftModel::Mirror& DraftModel::mirror_of(const Ask& ask) {
  std::unique_ptr<Mirror>& mirror = mirrors_[ask.sequence->id];
  if (!mirror) {
    mirror = std::make_unique<Mirror>();
    mirror->sequence.id = ask.sequence->id;
    mirror->right = right_;
  }
  return *mirror;
}

// Rows it computed for guesses that came true are rows of the sequence now; at least its last token stays to compute.
void DraftModel::follow(KvCache& cache, Mirror& mirror, const Sequence& sequence) {
  Sequence& s = mirror.sequence;
  if (s.computed == sequence.length()) cache.rewind(s, s.computed - 1);
  s.tokens.insert(s.tokens.end(), sequence.tokens.begin() + s.length(), sequence.tokens.end());
  const auto most = std::min<int64_t>(static_cast<int64_t>(mirror.ahead.size()), s.pending() - 1);
  int64_t right = 0;
  while (right < most && mirror.ahead[static_cast<size_t>(right)] == s.tokens[s.computed + right]) ++right;
  mirror.ahead.clear();
  if (right > 0) cache.commit(s, right);
}

void DraftModel::propose(std::span<Ask> asks) {
  for (Ask& ask : asks) ask.proposal = {};
  std::vector<Drafting> drafting = catch_up(asks);
  while (!drafting.empty()) {
    choose(drafting);
    std::erase_if(drafting, [](const Drafting& d) {
      return d.chain < kLeastChain || static_cast<int>(d.ask->proposal.tokens.size()) >= d.ask->most;
    });
    if (!drafting.empty()) extend(drafting);
  }
}

// Computes confirmed tokens that aren't in the cache. Those who are done have their last row's logits, in order.
std::vector<DraftModel::Drafting> DraftModel::catch_up(std::span<Ask> asks) {
  std::vector<Drafting> ready;
  std::vector<StepSequence> sequences;
  std::vector<Mirror*> computing;
  int room = std::min(kCatchUpRows, model_->max_step_rows());
  for (Ask& ask : asks) {
    if (room == 0 || ask.sequence->length() + ask.most > model_->context_length()) continue;
    Mirror& mirror = mirror_of(ask);
    Sequence& s = mirror.sequence;
    follow(cache_, mirror, *ask.sequence);
    cache_.adopt_prefix(s);
    const auto rows = static_cast<int>(std::min<int64_t>(s.pending(), room));
    const bool done = rows == s.pending();
    if (!cache_.extend(s, rows + (done ? ask.most : 0))) {
      cache_.release(s);
      continue;
    }
    room -= rows;
    computing.push_back(&mirror);
    sequences.push_back(
        {.id = s.id,
         .tokens = std::span(s.tokens).subspan(static_cast<size_t>(s.computed), static_cast<size_t>(rows)),
         .past = s.computed,
         .blocks = s.blocks,
         .logits_rows = done ? 1 : 0});
    if (done) ready.push_back({.ask = &ask, .mirror = &mirror, .sampling = *ask.sampling, .tokens = s.tokens});
  }
  if (sequences.empty()) return ready;
  forward(sequences, ready.size());
  for (size_t i = 0; i < computing.size(); ++i) {
    cache_.commit(computing[i]->sequence, static_cast<int64_t>(sequences[i].tokens.size()));
  }
  for (const Drafting& d : ready) d.mirror->grades.clear();
  return ready;
}

void DraftModel::choose(std::vector<Drafting>& drafting) {
  const auto width = static_cast<size_t>(model_->vocab_size());
  for (size_t i = 0; i < drafting.size(); ++i) {
    Drafting& d = drafting[i];
    const std::span<const float> logits = std::span(logits_).subspan(i * width, vocab_size_);
    const TokenId token = sampler_.pick(logits, d.sampling, d.tokens, d.ask->sequence->prompt);
    const int grade = grade_of(logits);
    const float chance = d.mirror->rates.share(grade, all_.share(grade), kWeightOfAll);
    d.tokens.push_back(token);
    d.chain *= static_cast<double>(chance);
    d.mirror->grades.push_back(grade);
    d.ask->proposal.tokens.push_back(token);
    d.ask->proposal.chance.push_back(chance);
  }
}

// One more row for each: its latest proposed token.
void DraftModel::extend(std::vector<Drafting>& drafting) {
  std::vector<StepSequence> sequences;
  for (Drafting& d : drafting) {
    const Sequence& s = d.mirror->sequence;
    sequences.push_back({.id = s.id,
                         .tokens = std::span(d.tokens).last(1),
                         .past = static_cast<int64_t>(d.tokens.size()) - 1,
                         .blocks = s.blocks,
                         .logits_rows = 1});
    d.mirror->ahead.push_back(d.tokens.back());
  }
  forward(sequences, sequences.size());
}

void DraftModel::forward(std::span<const StepSequence> sequences, size_t logits_rows) {
  size_t rows = 0;
  for (const StepSequence& s : sequences) rows += s.tokens.size();
  const size_t count = logits_rows * static_cast<size_t>(model_->vocab_size());
  if (logits_.size() < count) logits_.resize(count);
  const double begin = clock_ms_();
  model_->forward({.pool = cache_.memory(), .sequences = sequences}, std::span(logits_).first(count));
  cost_.record(static_cast<int>(rows), clock_ms_() - begin);
}

void DraftModel::learn(const Ask& ask, size_t index, TokenId said) {
  const auto known = mirrors_.find(ask.sequence->id);
  if (known == mirrors_.end() || index >= ask.proposal.tokens.size()) return;
  Mirror& mirror = *known->second;
  const bool right = ask.proposal.tokens[index] == said;
  mirror.rates.record(mirror.grades[index], right, kKeepOwn);
  all_.record(mirror.grades[index], right, kKeepAll);
  mirror.right += kForgetOwn * ((right ? 1 : 0) - mirror.right);
  right_ += kForgetAll * ((right ? 1 : 0) - right_);
}

}  // namespace genai
