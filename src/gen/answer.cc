#include "gen/answer.h"

#include <algorithm>
#include <utility>

namespace genai {

Answer::Answer(std::shared_ptr<Turn> turn, int index, std::shared_ptr<const Tokenizer> tokenizer)
    : sampling(turn->request.sampling, turn->seed, static_cast<uint32_t>(index)),
      turn_(std::move(turn)),
      index_(index),
      stops_(turn_->request.stop) {
  if (tokenizer) detokenizer_.emplace(std::move(tokenizer), turn_->request.skip_special_tokens);
  if (turn_->request.constraint) constraint_ = turn_->request.constraint->fresh();
}

void Answer::started(double now_ms) {
  if (started_ms_) return;
  started_ms_ = now_ms;
  timings_.queued_ms = now_ms - turn_->submitted_ms;
}

std::optional<Finish> Answer::ending_of(TokenId token) const {
  const Request& request = turn_->request;
  const bool end_of_text = std::find(request.eos.begin(), request.eos.end(), token) != request.eos.end();
  if (end_of_text && !request.ignore_eos) return Finish{.reason = Finish::Reason::stop};
  if (sequence.length() >= sequence.limit) return Finish{.reason = Finish::Reason::length};
  return std::nullopt;
}

std::string Answer::text_of(TokenId token, std::optional<Finish>& finish) {
  if (!detokenizer_) return {};
  // The token that ends the text isn't part of it.
  const bool ends_text = finish && finish->reason == Finish::Reason::stop;
  std::string text = ends_text ? std::string() : stops_.push(detokenizer_->push(token));
  if (finish && !stops_.stopped()) text += flush();
  if (stops_.stopped()) finish = Finish{.reason = Finish::Reason::stop_string, .matched = stops_.matched()};
  return text;
}

std::string Answer::flush() {
  std::string text = stops_.push(detokenizer_->finish());
  return text + stops_.finish();
}

Event Answer::accept(TokenId token, double now_ms) {
  if (constraint_) constraint_->accept(token);
  sequence.tokens.push_back(token);
  std::optional<Finish> finish = ending_of(token);
  std::string text = text_of(token, finish);
  if (!first_token_ms_) {
    first_token_ms_ = now_ms;
    timings_.prefill_ms = now_ms - started_ms_.value_or(now_ms);
    timings_.first_token_ms = now_ms - turn_->submitted_ms;
  }
  timings_.decode_ms = now_ms - *first_token_ms_;
  Event result = event();
  result.token = token;
  result.text = std::move(text);
  result.logprob = std::exchange(logprob, std::nullopt);
  result.finish = std::move(finish);
  return result;
}

Event Answer::end(Finish finish) {
  Event result = event();
  if (finish.reason == Finish::Reason::length && detokenizer_) result.text = flush();
  result.finish = std::move(finish);
  return result;
}

void Answer::score_prompt(std::span<const float> logits, int rows, int64_t first_position, int vocab_size) {
  for (int r = 0; r < rows; ++r) {
    const int64_t next = first_position + r + 1;  // a row tells about the token after it
    if (next >= sequence.prompt) return;
    if (next != static_cast<int64_t>(prompt_logprobs_.size()) + 1) continue;  // computed again after a preemption
    prompt_logprobs_.push_back(logprob_of(logits.subspan(static_cast<size_t>(r) * vocab_size, vocab_size),
                                          sequence.tokens[next], *turn_->request.prompt_logprobs));
  }
}

Event Answer::event() {
  Event result;
  result.index = index_;
  result.usage = {.prompt_tokens = sequence.prompt,
                  .completion_tokens = generated(),
                  .cached_tokens = std::min(sequence.cached, sequence.prompt),
                  .proposed_tokens = proposed,
                  .accepted_tokens = accepted};
  result.timings = timings_;
  result.prompt_logprobs = std::exchange(prompt_logprobs_, {});
  return result;
}

}  // namespace genai
