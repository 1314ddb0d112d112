// How other threads reach the engine's state: work for its thread, done between two steps.
#include <algorithm>
#include <chrono>
#include <future>

#include "gen/engine_loop.h"

namespace genai {

void Engine::Loop::call(const std::function<void()>& work) {
  if (runs_here()) return work();
  auto result = std::make_shared<std::promise<std::optional<Error>>>();
  std::future<std::optional<Error>> ended = result->get_future();
  const std::optional<int64_t> number =
      put_call([this, &work, result] { result->set_value(dead_ ? dead_ : attempt(work)); });
  if (!number) throw Error(Code::cancelled, "the engine is stopping");
  const std::chrono::duration<double, std::milli> limit(options_.call_wait_ms);
  const bool late = limit.count() > 0 && ended.wait_for(limit) == std::future_status::timeout;
  if (late && withdraw_call(*number)) {
    throw Error(Code::cancelled, "the engine has not ended its step in time; try again later", kEngineWait);
  }
  if (const std::optional<Error> error = ended.get()) throw *error;
}

void Engine::Loop::call_later(std::function<void()> work) {
  if (runs_here()) return work();
  put_call([this, work = std::move(work)] {
    if (!dead_) attempt(work);
  });
}

bool Engine::Loop::runs_here() const { return options_.manual || std::this_thread::get_id() == thread_.get_id(); }

// Empty: the engine is stopping.
std::optional<int64_t> Engine::Loop::put_call(std::function<void()> run) {
  int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return std::nullopt;
    number = next_call_++;
    calls_.push_back({number, std::move(run)});
  }
  doorbell_->ring();
  return number;
}

// True: it hasn't begun and never will.
bool Engine::Loop::withdraw_call(int64_t number) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(calls_, [number](const Call& call) { return call.number == number; }) > 0;
}

}  // namespace genai
