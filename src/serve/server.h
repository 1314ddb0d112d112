// Everything the routes share: the models, the sessions, the figures, the rules.
//
//   Server server({.models = {"smollm2"}}, loader);
//   Reply reply = dispatch(server, request);
//
// Threads: any. stop() once, when no route runs any more.
#pragma once

#include <atomic>
#include <chrono>

#include "serve/access.h"
#include "serve/chat_call.h"
#include "serve/key_slots.h"
#include "serve/metrics.h"
#include "serve/model_hub.h"
#include "serve/session_service.h"

namespace genai::serve {

struct ServerOptions {
  std::vector<std::string> models;  // names; the first is the default
  HubOptions hub;
  SessionOptions sessions;
  CallLimits limits;
  ApiKeys keys;
  Origins origins;
  int max_key_requests = 0;  // of one API key at a time; 0: no limit
  bool metrics = true;
  std::function<void(const std::string&)> log;  // of failures; may be null
};

double steady_ms();  // of the clock that engines and their watchdogs use

class Server {
 public:
  Server(ServerOptions options, ModelHub::Loader loader);

  const ServerOptions& options() const { return options_; }
  ModelHub& models() { return hub_; }
  SessionService& sessions() { return sessions_; }
  Metrics& metrics() { return metrics_; }
  KeySlots& key_slots() { return key_slots_; }
  int64_t uptime_s() const;
  void log(const std::string& line) const;

  bool stopping() const { return stopping_.load(); }
  void begin_stop() { stopping_.store(true); }
  void tick();        // a few times a second: watches the engines, replaces dead ones
  void look_after();  // every few seconds, by a thread that may wait: idle sessions, unwritten ones. One at a time
  void stop();        // keeps durable sessions, then lets go of the models

 private:
  const ServerOptions options_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<bool> stopping_{false};
  std::atomic<bool> looking_after_{false};
  Metrics metrics_;
  KeySlots key_slots_;
  // stop() lets the engines go first: they release leases and write sessions as they end.
  ModelHub hub_;
  SessionService sessions_;
};

}  // namespace genai::serve
