// What the server learns of a turn on the engine's thread: its figures, and, for a session, the new conversation.
//
// A finished turn's session is updated and journalled in before(): its lease is still held then, and its end can't be
// seen yet. A turn that ends in any other way leaves the session as it was.
// Threads: the engine's. Errors: none; a journal that can't be written is counted (metrics), the turn stands. Why a
// turn failed is logged.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "gen/request.h"
#include "serve/http.h"
#include "serve/metrics.h"

namespace genai::serve {

// A session's turn as it will be when the answer is complete.
class TurnRecord {
 public:
  virtual ~TurnRecord() = default;
  virtual void add(const Event& event) = 0;
  virtual void commit() noexcept = 0;
};

class TurnListener : public EventListener {
 public:
  using Log = std::function<void(const std::string&)>;
  TurnListener(std::shared_ptr<Wakeup> wakeup, Metrics& metrics, Log log, std::unique_ptr<TurnRecord> record);

  void before(const Event& event) noexcept override;
  void available() noexcept override { wakeup_->ring(); }

 private:
  using Clock = std::chrono::steady_clock;
  void measure(const Event& event);
  void count_ending(const Event& event);

  const std::shared_ptr<Wakeup> wakeup_;
  Metrics& metrics_;
  const Log log_;  // may be empty
  std::unique_ptr<TurnRecord> record_;
  const Clock::time_point began_ = Clock::now();
  std::vector<std::optional<Clock::time_point>> last_token_;  // by answer
};

}  // namespace genai::serve
