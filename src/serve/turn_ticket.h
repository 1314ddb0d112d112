// A turn's events as a client may see them: the end of a durable session's turn only once it is on the disk.
//
//   TurnTicket answer(driver.generate(…), gate);
//   while (auto event = answer.try_next()) …
//
// Threads: TurnTicket: one reader. EndGate: opened by any. Errors: none; a turn that fails has nothing to wait for.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "gen/ticket.h"
#include "serve/http.h"

namespace genai::serve {

class EndGate {
 public:
  explicit EndGate(std::shared_ptr<Wakeup> wakeup) : wakeup_(std::move(wakeup)) {}
  void open() noexcept {
    open_.store(true);
    wakeup_->ring();
  }
  bool is_open() const { return open_.load(); }

 private:
  const std::shared_ptr<Wakeup> wakeup_;
  std::atomic<bool> open_{false};
};

class TurnTicket {
 public:
  TurnTicket(Ticket ticket, std::shared_ptr<const EndGate> gate) : ticket_(std::move(ticket)), gate_(std::move(gate)) {}

  std::optional<Event> try_next();
  bool done() const { return !held_ && ticket_.done(); }  // every event was read

 private:
  bool is_early(const Event& event) const;

  Ticket ticket_;
  std::shared_ptr<const EndGate> gate_;  // null: nothing to wait for
  std::optional<Event> held_;
};

}  // namespace genai::serve
