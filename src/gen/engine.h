// Serves many requests from one model by batching them token by token.
//
//   Engine engine(std::move(model), tokenizer, {});
//   Ticket answer = engine.submit({.prompt = tokens, .max_tokens = 32});
//   while (auto event = answer.next()) std::cout << event->text;
//
// Threads:  every member from any thread; the engine owns the one thread that runs the model. With `manual` there is no
// such
//           thread: whoever calls step() is it, and everything else is called by the same thread.
// Errors:   the constructor, submit() and the context calls throw Error. Afterwards a failing sequence ends with
//           Finish::Reason::failed and its neighbours in the batch continue. A fault outside of a sequence's work ends
//           the engine's thread: everything in flight ends as failed, everything new is refused with Code::cancelled.
// Memory:   the cache is reserved once, by the constructor; a request that can never fit is refused by submit() with
//           Code::out_of_capacity and numbers.
//
// Contexts are conversations kept between requests: tokens, and their blocks as long as the pool has room for them. A
// request with `context` works on a fork; the context changes only when the answer is complete (reasons stop,
// stop_string, length), before the terminal event can be seen. A cancelled or failed turn leaves the context as it was.
#pragma once

#include <functional>
#include <memory>

#include "gen/decoder_model.h"
#include "gen/request.h"
#include "gen/scheduler.h"
#include "gen/speculation.h"
#include "gen/ticket.h"

namespace genai {

struct EngineOptions {
  int64_t kv_bytes = int64_t{1} << 30;
  SchedulerOptions scheduler;       // max_step_rows 0 or above the model's: the model's
  SpeculationOptions speculation;   // refused when the model isn't paged
  int max_queue = 256;              // requests that wait beyond the rows; more are refused with out_of_capacity
  int output_buffer = 16;           // events of a request that may wait for its reader before it pauses
  double call_wait_ms = 0;          // how long a context call waits for a step to end; 0: as long as it takes
  double delivery_grace_ms = 1000;  // paused for longer: ends as stalled; 0: waits for ever
  bool manual = false;
  std::function<double()> clock_ms;  // for tests; default: the steady clock
};

// Where the Error{cancelled} of a context call says that it happened when it was withdrawn after call_wait_ms: nothing
// has changed, and nothing will.
inline constexpr const char* kEngineWait = "engine";

struct EngineStats {
  int running = 0, waiting = 0, paused = 0;
  BlockStats kv;
  int64_t kv_resident_bytes = 0;  // a draft model's included
  int64_t steps = 0, prompt_tokens = 0, generated_tokens = 0, cached_tokens = 0, preemptions = 0;
  int64_t proposed_tokens = 0, accepted_tokens = 0;  // guesses checked by the model, and the right ones of them
  std::string draft_failure;                         // why the draft model was given up; empty: it wasn't
  std::string failure;                               // why the engine's thread has ended by itself; empty: it hasn't
  double last_step_ms = 0;  // clock at the end of the latest step; with running > 0 an old value means a stalled engine
};

// A context on its way to a file: everything a later restore needs.
struct ContextImage {
  std::vector<TokenId> tokens;
  int64_t computed = 0;       // tokens whose keys and values are in `kv`
  int64_t block_bytes = 0;    // of the model that wrote it
  std::vector<std::byte> kv;  // whole blocks; empty for a dense model
};

class Engine {
 public:
  // `tokenizer` may be null: events then carry no text and stop strings are refused.
  Engine(std::unique_ptr<DecoderModel> model, std::shared_ptr<const Tokenizer> tokenizer, EngineOptions options);
  ~Engine();  // cancels everything in flight, then joins

  Ticket submit(Request request);

  ContextId create_context();
  ContextId fork(ContextId context, int64_t position);  // shares all blocks up to position
  void rewind(ContextId context, int64_t position);     // beyond the tokens: invalid_argument, nothing changes
  void close(ContextId context);
  void close_later(ContextId context);  // between two steps; doesn't wait, and an unknown context is as good as closed
  std::vector<TokenId> tokens(ContextId context);
  ContextImage save(ContextId context);
  ContextId restore(const ContextImage& image);  // a foreign image: Error{corrupt}, nothing changes

  EngineStats stats() const;  // a snapshot; never waits for a step
  int context_length() const;
  int vocab_size()
      const;  // ids a request may hold and an answer can: the tokenizer's, when the model's logits have more

  bool step();  // manual only: one step; false when there was nothing to run

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace genai
