// One answer being generated: its sequence, how its tokens are chosen, how they become text, when it ends.
//
//   Event event = answer.accept(token, now);     // after each sampled token
//
// Threads: the engine's. Errors: accept may throw what detokenizer and constraint throw; the answer then fails.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gen/channel.h"
#include "gen/request.h"
#include "gen/sampler.h"
#include "gen/sequence.h"
#include "text/detokenizer.h"
#include "text/stop_matcher.h"

namespace genai {

// A submitted request, shared by its answers.
struct Turn {
  Request request;
  std::shared_ptr<Channel> channel;
  double submitted_ms = 0;
  uint64_t seed = 0;
  int open = 0;  // answers that haven't ended
};

class Answer {
 public:
  Answer(std::shared_ptr<Turn> turn, int index, std::shared_ptr<const Tokenizer> tokenizer);

  Event accept(TokenId token,
               double now_ms);  // appends it to the sequence; event.finish is set when that ends the answer
  Event end(Finish finish);     // an ending without a token; flushes held-back text where text is owed
  // Logprobs of prompt tokens: logits rows follow positions first_position …; kept for the first event.
  void score_prompt(std::span<const float> logits, int rows, int64_t first_position, int vocab_size);
  void started(double now_ms);

  const Turn& turn() const { return *turn_; }
  std::shared_ptr<Turn>& shared_turn() { return turn_; }
  int index() const { return index_; }
  int64_t generated() const { return sequence.length() - sequence.prompt; }
  TokenConstraint* constraint() { return constraint_.get(); }

  Sequence sequence;
  int64_t proposed = 0, accepted = 0;  // guessed tokens
  SamplingState sampling;
  std::optional<TokenLogprob> logprob;  // of the token about to be accepted
  std::optional<double> paused_since_ms;

 private:
  std::optional<Finish> ending_of(TokenId token) const;
  std::string text_of(TokenId token, std::optional<Finish>& finish);
  std::string flush();
  Event event();

  std::shared_ptr<Turn> turn_;
  int index_;
  std::optional<Detokenizer> detokenizer_;
  StopMatcher stops_;
  std::shared_ptr<TokenConstraint> constraint_;
  std::vector<TokenLogprob> prompt_logprobs_;
  Timings timings_;
  std::optional<double> started_ms_, first_token_ms_;
};

}  // namespace genai
