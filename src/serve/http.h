// What the network side hands to a route and gets back. No socket, no library: routes are tested without either.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace genai::serve {

struct ApiError;

// Rung by the engine's thread when an answer in the making has something new; wakes the connection that waits for it.
class Wakeup {
 public:
  virtual ~Wakeup() = default;
  virtual void ring() noexcept = 0;
};

struct HttpRequest {
  std::string method, path, query;             // path without the query, percent-decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::shared_ptr<Wakeup> wakeup;

  std::map<std::string, std::string> path_parts;  // "{id}" of the route → what stood there; filled by dispatch
  std::string owner;                              // hash of the API key; empty without keys; filled by dispatch
  std::weak_ptr<void> slot;  // of the key's running requests; shared by what goes on after the route has returned

  std::string_view header(const std::string& name) const {
    const auto it = headers.find(name);
    return it == headers.end() ? std::string_view() : std::string_view(it->second);
  }
};

struct Reply;

// A reply that isn't there yet. Destroying it cancels what it waits for.
// Threads: one, the event loop's, after the route has returned it.
class PendingReply {
 public:
  virtual ~PendingReply() = default;
  virtual std::optional<Reply> poll() = 0;           // empty: wait for the wakeup
  virtual void give_up(const ApiError& reason) = 0;  // the next poll() answers with this
};

// A stream of server-sent events in the making. Destroying it cancels what it waits for.
// Threads: one, the event loop's, after the route has returned it.
class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual std::optional<std::string> poll() = 0;     // one or more whole events; empty: wait, or done()
  virtual bool done() const = 0;                     // everything was polled
  virtual void give_up(const ApiError& reason) = 0;  // ends with an error event and the end mark
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::unique_ptr<PendingReply> pending;  // at most one of these two; status and body are then its business
  std::unique_ptr<EventSource> events;
};

}  // namespace genai::serve
