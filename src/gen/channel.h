// The events of one request on their way from the engine to its reader.
//
// Threads: the engine pushes, one reader pops; cancel from anywhere. No lock is held while the model runs.
// Errors:  none. A push never blocks and never drops: the engine looks at full() before it runs the sequence again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "gen/doorbell.h"
#include "gen/request.h"

namespace genai {

class Channel {
 public:
  Channel(size_t capacity, int answers, std::shared_ptr<Doorbell> engine)
      : capacity_(capacity), open_(answers), engine_(std::move(engine)) {}

  void push(Event event);
  bool full() const;
  bool cancelled() const;

  std::optional<Event> pop();                                     // waits; empty: all answers have ended
  std::optional<Event> pop_for(std::chrono::milliseconds limit);  // empty: ended, or nothing came
  bool done() const;
  void cancel();

 private:
  std::optional<Event> take(std::unique_lock<std::mutex>& lock);
  bool readable() const { return !events_.empty() || open_ == 0; }

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Event> events_;
  const size_t capacity_;
  int open_;  // answers whose terminal event wasn't pushed yet
  bool cancelled_ = false;
  const std::shared_ptr<Doorbell> engine_;
};

}  // namespace genai
