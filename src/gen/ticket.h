// The reader's end of a request.
//
//   Ticket answer = engine.submit(request);
//   while (auto event = answer.next()) std::cout << event->text;
//
// Threads: one reader at a time; cancel() from any thread. Destroying the Ticket cancels the request before the next
// step. Errors:  none are thrown; a failing request ends with Finish::Reason::failed. Memory:  events wait in a bounded
// queue. When it is full only this request pauses; nobody blocks.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "gen/request.h"

namespace genai {

class Channel;

class Ticket {
 public:
  explicit Ticket(std::shared_ptr<Channel> channel);
  ~Ticket();
  Ticket(Ticket&&) noexcept;
  Ticket& operator=(Ticket&&) noexcept;

  std::optional<Event> next();                                     // waits; empty once all answers have ended
  std::optional<Event> next_for(std::chrono::milliseconds limit);  // empty: ended, or nothing yet (see done())
  std::optional<Event> try_next() { return next_for(std::chrono::milliseconds(0)); }
  bool done() const;  // every event was read
  void cancel();      // the terminal event still arrives

 private:
  std::shared_ptr<Channel> channel_;
};

}  // namespace genai
