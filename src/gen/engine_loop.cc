#include "gen/engine_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace genai {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kBeforeTrim(1000);  // idle for so long: the pool gives free memory back
constexpr milliseconds kForever(3'600'000);

double steady_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

EngineOptions normalized(EngineOptions options, const DecoderModel& model) {
  SchedulerOptions& scheduler = options.scheduler;
  if (scheduler.max_step_rows <= 0 || scheduler.max_step_rows > model.max_step_rows()) {
    scheduler.max_step_rows = model.max_step_rows();
  }
  if (scheduler.max_sequences < 1 || scheduler.max_sequences > scheduler.max_step_rows) {
    throw Error(Code::invalid_argument,
                fmt::format("max_sequences is {}, expected 1 to {}, the rows of one step", scheduler.max_sequences,
                            scheduler.max_step_rows),
                "max_sequences");
  }
  if (options.speculation.on() && !model.paged()) {
    throw Error(Code::unsupported, "speculation checks several tokens in one step, the dense path runs one at a time",
                "speculation", "turn speculation off for this model");
  }
  if (options.output_buffer < 1) {
    throw Error(Code::invalid_argument, fmt::format("output_buffer is {}, expected at least 1", options.output_buffer),
                "output_buffer");
  }
  if (!options.clock_ms) options.clock_ms = steady_ms;
  return options;
}
}  // namespace

Engine::Loop::Loop(std::unique_ptr<DecoderModel> model, std::shared_ptr<const Tokenizer> tokenizer,
                   EngineOptions options)
    : model_(std::move(model)),
      options_(normalized(std::move(options), *model_)),
      tokenizer_(std::move(tokenizer)),
      vocab_size_(tokenizer_ ? std::min(model_->vocab_size(), tokenizer_->vocab_size()) : model_->vocab_size()),
      cache_(*model_, options_.kv_bytes),
      scheduler_(options_.scheduler, cache_),
      speculation_(options_.speculation, scheduler_, vocab_size_, options_.clock_ms) {
  publish();
  if (!options_.manual) thread_ = std::thread([this] { run(); });
}

Engine::Loop::~Loop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  doorbell_->ring();
  if (thread_.joinable()) {
    thread_.join();
  } else {
    shut_down();
  }
  if (dead_) return;
  for (const auto& [id, sequence] : contexts_) cache_.unpark(*sequence);
}

void Engine::Loop::run() {
  if (const std::optional<Error> error = attempt([this] { run_until_stopped(); })) return die(*error);
  shut_down();
}

// Something threw where no single sequence is to blame, so the state of cache and scheduler can't be trusted: it isn't
// touched again. Everyone who waits is told, and what the requests held is released.
void Engine::Loop::die(const Error& why) {
  dead_ = why;
  std::vector<Call> calls;
  std::vector<std::unique_ptr<Answer>> submitted;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    calls.swap(calls_);
    submitted.swap(submitted_);
    published_.failure = why.text();
    published_.running = published_.waiting = published_.paused = 0;
  }
  for (const Call& call : calls) call.run();
  const auto let_go = [&](Answer* answer) {
    if (answer == nullptr) return;
    const std::shared_ptr<Turn> turn = answer->shared_turn();
    Event end{.index = answer->index(), .finish = Finish{.reason = Finish::Reason::failed, .error = why}};
    if (turn->request.listener) turn->request.listener->before(end);
    if (--turn->open == 0) turn->request.guard.reset();
    turn->channel->push(std::move(end));
    if (turn->request.listener) turn->request.listener->available();
  };
  for (const auto& [id, answer] : answers_) let_go(answer.get());
  for (const auto& answer : arrived_) let_go(answer.get());
  for (const auto& answer : submitted) let_go(answer.get());
}

void Engine::Loop::run_until_stopped() {
  bool trimmed = false;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    if (step()) {
      trimmed = false;
    } else {
      wait(trimmed);
    }
  }
}

// Nothing can run: until somebody rings, or a paused reader's time is over.
void Engine::Loop::wait(bool& trimmed) {
  double limit = static_cast<double>((trimmed ? kForever : kBeforeTrim).count());
  for (const auto& [id, answer] : answers_) {
    if (!answer->paused_since_ms || options_.delivery_grace_ms <= 0) continue;
    limit = std::min(limit, *answer->paused_since_ms + options_.delivery_grace_ms - now() + 1);
  }
  if (doorbell_->wait_for(milliseconds(static_cast<int64_t>(std::max(limit, 1.0)))) || trimmed) return;
  cache_.trim();
  speculation_.trim();
  publish();
  trimmed = answers_.empty();
}

void Engine::Loop::shut_down() {
  receive();
  while (!answers_.empty()) {
    Answer& answer = *answers_.begin()->second;
    finish(answer, answer.end({.reason = Finish::Reason::cancelled}));
  }
}

std::optional<Error> Engine::Loop::attempt(const std::function<void()>& work) const {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return Error(Code::internal, error.what());
  }
}

void Engine::Loop::receive() {
  std::vector<Call> calls;
  {
    const std::lock_guard lock(mutex_);
    arrived_.swap(submitted_);
    calls.swap(calls_);
  }
  for (const Call& call : calls) call.run();
  for (auto& answer : arrived_) place(std::move(answer));
  arrived_.clear();
}

void Engine::Loop::place(std::unique_ptr<Answer> owned) {
  Answer& answer = *owned;
  const Request& request = answer.turn().request;
  Sequence& s = answer.sequence;
  s.id = SequenceId(next_id_++);
  s.arrival = s.id.value;
  s.priority = request.priority;
  s.score_prompt = request.prompt_logprobs.has_value() && answer.index() == 0;
  answers_.emplace(s.id, std::move(owned));

  const Sequence* conversation = nullptr;
  if (request.context) {
    const auto it = contexts_.find(*request.context);
    if (it == contexts_.end()) {
      Error closed(Code::not_found, "the context was closed before its turn began", "context");
      return finish(answer, answer.end({.reason = Finish::Reason::failed, .error = std::move(closed)}));
    }
    conversation = it->second.get();
    const int64_t kept = std::min(request.keep.value_or(conversation->length()), conversation->length());
    s.tokens.assign(conversation->tokens.begin(), conversation->tokens.begin() + kept);
  }
  const int64_t shared = std::min(s.length(), s.length() + static_cast<int64_t>(request.prompt.size()) - 1);
  s.tokens.insert(s.tokens.end(), request.prompt.begin(), request.prompt.end());
  s.prompt = s.length();
  s.limit = limit_of(request, s.prompt);
  if (conversation != nullptr && !s.score_prompt) cache_.fork(*conversation, s, shared);
  for (const auto& [id, other] : answers_) {
    if (&other->turn() == &answer.turn() && other->index() == 0 && answer.index() > 0) s.leader = &other->sequence;
  }
  scheduler_.add(s);
}

void Engine::Loop::reap() {
  std::vector<std::pair<Answer*, Finish>> endings;
  for (const auto& [id, answer] : answers_) look_after_reader(*answer, endings);
  for (auto& [answer, ending] : endings) finish(*answer, answer->end(std::move(ending)));
}

void Engine::Loop::look_after_reader(Answer& answer, std::vector<std::pair<Answer*, Finish>>& endings) {
  const Channel& channel = *answer.turn().channel;
  if (channel.cancelled()) {
    endings.emplace_back(&answer, Finish{.reason = Finish::Reason::cancelled});
    return;
  }
  answer.sequence.paused = channel.full();
  if (!answer.sequence.paused) {
    answer.paused_since_ms.reset();
  } else if (!answer.paused_since_ms) {
    answer.paused_since_ms = now();
  } else if (options_.delivery_grace_ms > 0 && now() - *answer.paused_since_ms >= options_.delivery_grace_ms) {
    Error stalled(Code::cancelled, "stream consumer stalled: output buffer stayed full");
    endings.emplace_back(&answer, Finish{.reason = Finish::Reason::stalled, .error = std::move(stalled)});
  }
}

bool Engine::Loop::step() {
  receive();
  reap();
  Batch batch = scheduler_.next();
  speculate(batch);
  if (!batch.slots.empty()) run_batch(batch);
  publish();
  return !batch.slots.empty();
}

void Engine::Loop::speculate(Batch& batch) {
  if (!speculation_.enabled()) return;
  std::vector<Ask> asks;
  for (const Slot& slot : batch.slots) {
    const Sequence& s = *slot.sequence;
    const Answer& answer = *answers_.at(s.id);
    const int64_t most = std::min<int64_t>(options_.speculation.most, s.limit - s.length() - 1);
    if (!s.decoding() || !answer.turn().request.speculate || most < 1) continue;
    asks.push_back({.sequence = &s, .sampling = &answer.sampling, .most = static_cast<int>(most), .proposal = {}});
  }
  if (const std::optional<Error> error = attempt([&] { speculation_.widen(batch, std::move(asks)); })) {
    speculation_.drop_draft();  // the answers don't need it
    counted_.draft_failure = error->text();
  }
}

void Engine::Loop::run_batch(const Batch& batch) {
  const double begin = now();
  for (const Slot& slot : batch.slots) answers_.at(slot.sequence->id)->started(begin);
  if (std::optional<Error> error = attempt([&] { forward(batch.slots); })) {
    if (batch.slots.size() > 1 || !batch.slots[0].proposal.empty()) return run_apart(batch);
    Answer& answer = *answers_.at(batch.slots[0].sequence->id);
    return finish(answer, answer.end({.reason = Finish::Reason::failed, .error = std::move(error)}));
  }
  const double ms = now() - begin;
  scheduler_.settle(batch, ms);
  speculation_.record(batch, ms);
  ++counted_.steps;
  counted_.prompt_tokens += batch.prompt_rows;
  counted_.last_step_ms = now();
  std::span<const float> logits = logits_;
  for (const Slot& slot : batch.slots) {
    const size_t count = static_cast<size_t>(slot.logits_rows) * vocab_size_;
    Answer& answer = *answers_.at(slot.sequence->id);
    if (std::optional<Error> error = attempt([&] { settle(slot, logits.first(count)); })) {
      finish(answer, answer.end({.reason = Finish::Reason::failed, .error = std::move(error)}));
    }
    logits = logits.subspan(count);
  }
}

// Only who fails alone, and without guesses, fails.
void Engine::Loop::run_apart(const Batch& batch) {
  for (Slot slot : batch.slots) {
    slot.rows -= static_cast<int>(slot.proposal.size());
    slot.logits_rows -= static_cast<int>(slot.proposal.size());
    slot.proposal = {};
    const bool decodes = slot.sequence->decoding();
    run_batch({.slots = {slot}, .decode_rows = decodes ? 1 : 0, .prompt_rows = decodes ? 0 : slot.rows});
  }
}

void Engine::Loop::forward(std::span<const Slot> slots) {
  std::vector<StepSequence> sequences;
  size_t rows = 0, widened = 0;
  for (const Slot& slot : slots) widened += slot.proposal.empty() ? 0 : static_cast<size_t>(slot.rows);
  std::vector<TokenId> with_proposals;
  with_proposals.reserve(widened);  // what points into it stays valid
  for (const Slot& slot : slots) {
    const Sequence& s = *slot.sequence;
    const size_t own = static_cast<size_t>(slot.rows) - slot.proposal.size();
    std::span<const TokenId> tokens = std::span(s.tokens).subspan(static_cast<size_t>(s.computed), own);
    if (!slot.proposal.empty()) {
      const size_t first = with_proposals.size();
      with_proposals.insert(with_proposals.end(), tokens.begin(), tokens.end());
      with_proposals.insert(with_proposals.end(), slot.proposal.begin(), slot.proposal.end());
      tokens = std::span(with_proposals).subspan(first);
    }
    sequences.push_back(
        {.id = s.id, .tokens = tokens, .past = s.computed, .blocks = s.blocks, .logits_rows = slot.logits_rows});
    rows += static_cast<size_t>(slot.logits_rows);
  }
  const size_t width = static_cast<size_t>(model_->vocab_size()), known = static_cast<size_t>(vocab_size_);
  if (logits_.size() < rows * width) logits_.resize(rows * width);
  model_->forward({.pool = cache_.memory(), .sequences = sequences}, std::span(logits_).first(rows * width));
  if (known == width) return;
  for (size_t row = 1; row < rows; ++row) std::copy_n(&logits_[row * width], known, &logits_[row * known]);
}

void Engine::Loop::settle(const Slot& slot, std::span<const float> logits) {
  Sequence& s = *slot.sequence;
  Answer& answer = *answers_.at(s.id);
  const std::span<const TokenId> proposal = slot.proposal;
  const auto rows = static_cast<int64_t>(slot.rows) - static_cast<int64_t>(proposal.size());
  if (s.score_prompt) answer.score_prompt(logits, slot.logits_rows, s.computed - rows, vocab_size_);
  if (!slot.samples) return;
  if (s.length() >= s.limit) return finish(answer, answer.end({.reason = Finish::Reason::length}));

  const auto width = static_cast<size_t>(vocab_size_);
  logits = logits.last((proposal.size() + 1) * width);
  answer.proposed += static_cast<int64_t>(proposal.size());
  counted_.proposed_tokens += static_cast<int64_t>(proposal.size());
  for (size_t row = 0;; ++row) {
    Event event = sample(answer, logits.subspan(row * width, width), proposal.subspan(row));
    const bool stands = row < proposal.size() && event.token == proposal[row];
    speculation_.learn(s.id, row, event.token);
    if (event.finish) return finish(answer, std::move(event));
    deliver(answer.turn(), std::move(event));
    if (!stands) return;
    cache_.commit(s, 1);  // the row that was computed for the guess is the token's
  }
}

Event Engine::Loop::sample(Answer& answer, std::span<const float> logits, std::span<const TokenId> guesses) {
  const Sequence& s = answer.sequence;
  const std::optional<int>& logprobs = answer.turn().request.logprobs;
  const TokenId token = sampler_.pick(logits, answer.sampling, s.tokens, s.prompt, answer.constraint());
  if (logprobs) answer.logprob = logprob_of(logits, token, *logprobs);
  ++counted_.generated_tokens;
  if (!guesses.empty() && guesses[0] == token) {
    ++answer.accepted;
    ++counted_.accepted_tokens;
  }
  return answer.accept(token, now());
}

void Engine::Loop::deliver(const Turn& turn, Event event) {
  EventListener* const listener = turn.request.listener.get();
  if (listener != nullptr) listener->before(event);
  turn.channel->push(std::move(event));
  if (listener != nullptr) listener->available();
}

// Everything the request held is given back before its terminal event can be seen: the next request may count on it.
void Engine::Loop::finish(Answer& answer, Event event) {
  Sequence& s = answer.sequence;
  const std::shared_ptr<Turn> turn = answer.shared_turn();
  const Finish::Reason reason = event.finish->reason;
  scheduler_.remove(s);
  if (reason == Finish::Reason::stop || reason == Finish::Reason::stop_string || reason == Finish::Reason::length) {
    commit(answer);
  }
  cache_.release(s);
  speculation_.forget(s.id);
  counted_.cached_tokens += event.usage.cached_tokens;
  for (const auto& [id, other] : answers_) {
    if (other->sequence.leader == &s) other->sequence.leader = nullptr;
  }
  answers_.erase(SequenceId(s.id));
  {
    const std::lock_guard lock(mutex_);
    --open_;
  }
  publish();
  EventListener* const listener = turn->request.listener.get();
  if (listener != nullptr) listener->before(event);
  if (--turn->open == 0) turn->request.guard.reset();
  turn->channel->push(std::move(event));
  if (listener != nullptr) listener->available();
}

void Engine::Loop::commit(Answer& answer) {
  const std::optional<ContextId>& id = answer.turn().request.context;
  if (!id) return;
  const auto it = contexts_.find(*id);
  if (it == contexts_.end()) return;  // closed meanwhile
  cache_.unpark(*it->second);
  cache_.move(answer.sequence, *it->second);
  cache_.park(*it->second);
  note_length(*id, it->second->length());
}

void Engine::Loop::publish() {
  counted_.running = scheduler_.running();
  counted_.waiting = scheduler_.waiting();
  counted_.paused = static_cast<int>(
      std::count_if(answers_.begin(), answers_.end(), [](const auto& entry) { return entry.second->sequence.paused; }));
  counted_.kv = cache_.stats();
  counted_.kv_resident_bytes = cache_.resident_bytes() + speculation_.kv_resident_bytes();
  counted_.preemptions = scheduler_.preemptions();
  const std::lock_guard lock(mutex_);
  published_ = counted_;
}

EngineStats Engine::Loop::stats() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

}  // namespace genai
