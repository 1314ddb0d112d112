// The engine's inside: what the loop thread owns, and the mailbox through which other threads reach it.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "gen/answer.h"
#include "gen/engine.h"

namespace genai {

class Engine::Loop {
 public:
  Loop(std::unique_ptr<DecoderModel> model, std::shared_ptr<const Tokenizer> tokenizer, EngineOptions options);
  ~Loop();

  Ticket submit(Request request);
  // Runs `work` where the engine's state may be touched, between two steps, and waits for it. The Error it throws is
  // thrown here. What has waited for options.call_wait_ms without having begun is withdrawn: Error at kEngineWait.
  void call(const std::function<void()>& work);
  void call_later(std::function<void()> work);  // doesn't wait; what it throws is nobody's business
  EngineStats stats() const;
  const DecoderModel& model() const { return *model_; }
  int vocab_size() const { return vocab_size_; }
  bool step();

  // Inside call() only. An unknown id throws Error{not_found}.
  ContextId create_context();
  Sequence& context(ContextId id);
  ContextId fork_context(ContextId from, int64_t position);
  void rewind_context(ContextId id, int64_t position);
  void close_context(ContextId id);
  ContextImage save_context(ContextId id);
  ContextId restore_context(const ContextImage& image);

 private:
  // submit's side; throws, touches immutable facts and what mutex_ guards only
  void check(const Request& request, int64_t context_tokens) const;
  int64_t limit_of(const Request& request, int64_t prompt_tokens) const;
  void check_room(const Request& request, int64_t prompt_tokens) const;

  struct Call {
    int64_t number = 0;
    std::function<void()> run;
  };
  bool runs_here() const;
  std::optional<int64_t> put_call(std::function<void()> run);
  bool withdraw_call(int64_t number);

  void run();
  void run_until_stopped();
  void die(const Error& why);
  void wait(bool& trimmed);
  void shut_down();
  void receive();
  void place(std::unique_ptr<Answer> answer);
  void reap();
  void look_after_reader(Answer& answer, std::vector<std::pair<Answer*, Finish>>& endings);
  void speculate(Batch& batch);
  void run_batch(const Batch& batch);
  void run_apart(const Batch& batch);
  void forward(std::span<const Slot> slots);
  void settle(const Slot& slot, std::span<const float> logits);
  Event sample(Answer& answer, std::span<const float> logits, std::span<const TokenId> guesses);
  static void deliver(const Turn& turn, Event event);
  void finish(Answer& answer, Event event);
  void commit(Answer& answer);
  std::optional<Error> attempt(const std::function<void()>& work) const;
  void publish();
  void note_length(ContextId id, int64_t tokens);
  double now() const { return options_.clock_ms(); }

  const std::unique_ptr<DecoderModel> model_;
  const EngineOptions options_;
  const std::shared_ptr<const Tokenizer> tokenizer_;
  const int vocab_size_;  // ids a sequence may have: a model's logits can be padded beyond its tokenizer
  const std::shared_ptr<Doorbell> doorbell_ = std::make_shared<Doorbell>();

  KvCache cache_;
  Scheduler scheduler_;
  Sampler sampler_;
  Speculation speculation_;
  std::unordered_map<SequenceId, std::unique_ptr<Answer>> answers_;
  std::unordered_map<ContextId, std::unique_ptr<Sequence>> contexts_;
  std::vector<float> logits_;  // [rows of the step, vocab_size_] after forward
  int64_t next_id_ = 0;
  EngineStats counted_;
  std::vector<std::unique_ptr<Answer>> arrived_;  // being taken up
  std::optional<Error> dead_;                     // why the thread ends by itself

  mutable std::mutex mutex_;  // guards what follows; never held while the model runs
  std::vector<std::unique_ptr<Answer>> submitted_;
  std::vector<Call> calls_;
  int64_t next_call_ = 0;
  std::unordered_map<ContextId, int64_t> context_lengths_;
  int open_ = 0;  // answers accepted and not ended
  bool stopping_ = false;
  EngineStats published_;

  std::thread thread_;
};

}  // namespace genai
