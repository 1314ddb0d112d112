// Answers of the engine on their way to the client: as one JSON object, or as a stream of events.
//
// A Shape says what the bodies look like (chat, plain completion); everything else is here: reading the tickets without
// waiting, failures, the usage, the end mark. Destroying either cancels what still runs.
// Threads: one, the event loop's.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "serve/api_error.h"
#include "serve/http.h"
#include "serve/turn_ticket.h"

namespace genai::serve {

class Shape {
 public:
  virtual ~Shape() = default;
  // Streams: chunks as JSON objects, appended to `out`.
  virtual void open(std::vector<Json>& out) = 0;
  virtual void chunks(int choice, const Event& event, std::vector<Json>& out) = 0;
  virtual void close(std::vector<Json>& out) = 0;
  // Whole answers.
  virtual void take(int choice, const Event& event) = 0;
  virtual Json body() = 0;
};

struct Answers {
  std::vector<TurnTicket> tickets;
  int per_ticket = 1;  // answers of each; choice = ticket · per_ticket + event.index
  std::unique_ptr<Shape> shape;
};

Reply stream_reply(Answers answers);
Reply whole_reply(Answers answers);

std::string sse_event(const Json& json);
ApiError error_of(const Finish& finish);  // for reasons failed, stalled, cancelled
bool is_failure(const Finish& finish);
const char* finish_reason(const Finish& finish);  // "stop" or "length"

// What usage adds up to over the answers of a response.
class UsageSum {
 public:
  void add(int choice, int per_ticket, const Usage& usage);
  Json json(int64_t reasoning_tokens) const;
  int64_t total() const { return prompt_ + completion_; }

 private:
  int64_t prompt_ = 0, completion_ = 0, cached_ = 0;
};

std::string response_id(const char* prefix);  // "chatcmpl-" and 24 random characters
int64_t unix_seconds();
std::string dump(const Json& json);  // invalid UTF-8 becomes U+FFFD

}  // namespace genai::serve
