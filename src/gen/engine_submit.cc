// What a request must be to be accepted; everything that can be refused is refused here, before any work.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "gen/engine_loop.h"

namespace genai {
namespace {
[[noreturn]] void refuse(const std::string& what, const std::string& field,
                         const std::string& fix = "change this part of the request") {
  throw Error(Code::invalid_argument, what, field, fix);
}

void check_tokens(const std::vector<TokenId>& tokens, const char* field, int vocab_size) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].value >= 0 && tokens[i].value < vocab_size) continue;
    refuse(fmt::format("token {} is {}, expected 0 to {}", i, tokens[i].value, vocab_size - 1), field);
  }
}

void check_count(const std::optional<int>& value, const char* field, int most) {
  if (value && (*value < 0 || *value > most))
    refuse(fmt::format("{} is {}, expected 0 to {}", field, *value, most), field);
}

uint64_t random_seed() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}
}  // namespace

void Engine::Loop::check(const Request& request, int64_t context_tokens) const {
  const int vocab = vocab_size_;
  validate(request.sampling, vocab);
  check_tokens(request.prompt, "prompt", vocab);
  check_count(request.logprobs, "logprobs", vocab);
  check_count(request.prompt_logprobs, "prompt_logprobs", vocab);
  if (!request.stop.empty() && !tokenizer_) refuse("stop strings need a tokenizer, the engine has none", "stop");
  if (request.n < 1 || request.n > options_.scheduler.max_sequences) {
    refuse(fmt::format("n is {}, expected 1 to {}", request.n, options_.scheduler.max_sequences), "n");
  }
  if (request.n > 1 && request.context)
    refuse("n above 1 can't continue a context: one answer becomes its next turn", "n");
  const int least = request.prompt_logprobs ? 0 : 1;
  if (request.max_tokens && *request.max_tokens < least) {
    refuse(fmt::format("max_tokens is {}, expected at least {}", *request.max_tokens, least), "max_tokens");
  }
  const int64_t prompt_tokens = context_tokens + static_cast<int64_t>(request.prompt.size());
  if (prompt_tokens == 0) refuse("the prompt has no tokens, expected at least one", "prompt");
  check_room(request, prompt_tokens);
}

void Engine::Loop::check_room(const Request& request, int64_t prompt_tokens) const {
  const int64_t context = model_->context_length();
  const bool answers = request.max_tokens.value_or(1) > 0;
  if (prompt_tokens + (answers ? 1 : 0) > context) {
    refuse(fmt::format("the prompt has {} tokens, expected fewer than the context length {}", prompt_tokens, context),
           "prompt", "shorten the prompt");
  }
  const int64_t limit = std::max(limit_of(request, prompt_tokens), prompt_tokens + (answers ? 1 : 0));
  if (limit > cache_.capacity_tokens()) {
    throw Error(Code::out_of_capacity,
                fmt::format("the request can need {} tokens ({} of them the prompt), the KV cache holds {}", limit,
                            prompt_tokens, cache_.capacity_tokens()),
                "max_tokens", "lower max_tokens, shorten the prompt, or give the KV cache more memory");
  }
}

int64_t Engine::Loop::limit_of(const Request& request, int64_t prompt_tokens) const {
  const int64_t context = model_->context_length();
  if (request.max_tokens) return std::min(prompt_tokens + *request.max_tokens, context);
  return std::min(context, cache_.capacity_tokens());
}

Ticket Engine::Loop::submit(Request request) {
  auto turn = std::make_shared<Turn>();
  turn->submitted_ms = now();
  turn->seed = request.sampling.seed ? *request.sampling.seed : random_seed();
  turn->open = request.n;
  turn->request = std::move(request);
  const Request& asked = turn->request;

  std::unique_lock lock(mutex_);
  int64_t context_tokens = 0;
  if (asked.context) {
    const auto known = context_lengths_.find(*asked.context);
    if (known == context_lengths_.end()) throw Error(Code::not_found, "the context doesn't exist", "context");
    context_tokens = asked.keep.value_or(known->second);
    if (context_tokens < 0 || context_tokens > known->second) {
      refuse(fmt::format("keep is {}, expected 0 to {}, the context's tokens", context_tokens, known->second), "keep");
    }
  }
  lock.unlock();
  check(asked, context_tokens);
  turn->channel = std::make_shared<Channel>(static_cast<size_t>(options_.output_buffer), asked.n, doorbell_);
  std::vector<std::unique_ptr<Answer>> answers;
  for (int i = 0; i < asked.n; ++i) answers.push_back(std::make_unique<Answer>(turn, i, tokenizer_));

  lock.lock();
  const int most = options_.scheduler.max_sequences + options_.max_queue;
  if (stopping_) throw Error(Code::cancelled, "the engine is stopping");
  if (open_ + asked.n > most) {
    throw Error(Code::out_of_capacity, fmt::format("the queue is full: {} requests are running or waiting", open_), {},
                "try again later");
  }
  open_ += asked.n;
  for (auto& answer : answers) submitted_.push_back(std::move(answer));
  lock.unlock();
  doorbell_->ring();
  return Ticket(turn->channel);
}

}  // namespace genai
