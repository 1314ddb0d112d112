// What goes into the engine and what comes out of it. Values; made and read on any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gen/logprobs.h"
#include "gen/sampling_options.h"
#include "gen/token_constraint.h"

namespace genai {

using ContextId = nxrt::Id<struct ContextTag, int64_t>;  // a conversation the engine keeps between requests

struct Event;

// Hears of a request's events on the engine's thread: it must return quickly and may not throw.
class EventListener {
 public:
  virtual ~EventListener() = default;
  // Before the event can be read. With an answer's last event: after the context has taken the answer, before the
  // request's guard is released.
  virtual void before(const Event& event) noexcept = 0;
  virtual void available() noexcept = 0;  // an event can be read now
};

struct Request {
  std::vector<TokenId> prompt;    // appended to the context's tokens, if there is a context
  std::optional<int> max_tokens;  // absent: as many as context and pool allow; 0 only with prompt_logprobs
  SamplingOptions sampling;
  std::vector<std::string> stop;  // stop strings; need the engine's tokenizer
  std::vector<TokenId> eos;       // any of these ends the answer
  bool ignore_eos = false;
  bool speculate = true;               // where the engine does; changes no token
  bool skip_special_tokens = true;     // in the text
  std::optional<int> logprobs;         // top N of each answer token; 0: only the token's own
  std::optional<int> prompt_logprobs;  // the same for the prompt's tokens but its first; the cache isn't read then
  int n = 1;                           // answers to the same prompt; they share its blocks
  int priority = 0;                    // higher goes first
  std::optional<ContextId> context;    // continue this conversation; its tokens change only when the answer is complete
  std::optional<int64_t> keep;         // of the context's tokens, the first so many; absent: all of them
  std::shared_ptr<TokenConstraint> constraint;
  // Released when the last answer has ended: after its tokens are committed to the context and before its terminal
  // event can be seen, whatever the ending. A session's lease goes here.
  std::shared_ptr<void> guard;
  std::shared_ptr<EventListener> listener;  // may be null
};

struct Finish {
  enum class Reason {
    stop,         // an end-of-text token
    stop_string,  // `matched` says which
    length,       // max_tokens, the context or the pool
    cancelled,    // the Ticket is gone, or the engine stops
    stalled,      // the reader didn't drain its events in time
    failed,       // `error` says why
  };
  Reason reason = Reason::stop;
  int matched = -1;
  std::optional<Error> error;
};

struct Usage {
  int64_t prompt_tokens = 0;      // the context's included
  int64_t completion_tokens = 0;  // sampled ones, an end-of-text token included
  int64_t cached_tokens = 0;      // of the prompt, not computed for this request
  int64_t proposed_tokens = 0;    // guessed and checked by the model (gen/speculation.h)
  int64_t accepted_tokens = 0;    // of these, the right ones; they are completion tokens
};

struct Timings {              // milliseconds
  double queued_ms = 0;       // submit → first step
  double prefill_ms = 0;      // first step → first token
  double first_token_ms = 0;  // submit → first token
  double decode_ms = 0;       // first token → latest token
};

struct Event {
  int index = 0;     // which of the n answers
  TokenId token;     // invalid on an ending without a token
  std::string text;  // what is now certain of the text; may be empty
  std::optional<TokenLogprob> logprob;
  std::vector<TokenLogprob> prompt_logprobs;  // with the first event of answer 0: prompt tokens 1, 2, …
  std::optional<Finish> finish;               // set on the last event of this answer
  Usage usage;                                // so far
  Timings timings;                            // so far
};

}  // namespace genai
