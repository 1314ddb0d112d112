// The server's side of one model's engine: permits, and sessions' contexts. The engine's own thread runs the model.
//
//   Ticket answer = driver.generate(std::move(lease), request);   // no lease: a stateless turn
//   driver.close_session(std::move(lease));                        // by value: nobody closes under a running turn
//
// Order of release, on every path (finished, failed, cancelled, stalled, refused, engine stopped): a turn's tokens are
// committed, then its lease and permit are free, then its last event can be read. Who has read the end can start the
// next turn at once. Not promised: that the lease of a *cancelled* turn is free when its Ticket's destructor returns;
// it is before the next step.
//
// Threads: any. generate() never waits for the engine; what is marked "waits" returns between two steps.
// Errors:  ApiError, and the engine's Error for a request it can't accept; a refused turn holds nothing. What waits is
// refused when the engine is known to stand still. At most most_waiting threads wait for one engine at a time, each at
// most EngineOptions::call_wait_ms; the others get 503 engine_busy.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>

#include "gen/engine.h"
#include "serve/lease.h"
#include "serve/permits.h"
#include "serve/watchdog.h"

namespace genai::serve {

struct DriverOptions {
  int max_queue = 256;  // answers that wait beyond those that run
  double stall_ms = 10'000;
  int most_waiting = 4;  // threads that wait for a step of the engine to end
};

class Driver {
 public:
  // `engine` accepts at least as many requests as `rows` run and max_queue wait.
  Driver(std::string model, std::unique_ptr<Engine> engine, int rows, const DriverOptions& options);

  // request.guard, if there is one, is released together with the lease.
  Ticket generate(std::optional<SessionLease> lease, Request request);

  // Gives the lease's session a context made of these tokens, with their keys and values where the image has them.
  // Waits. Does nothing when it has one.
  void open_session(const SessionLease& lease, const ContextImage& image);
  bool has_session(const SessionLease& lease) const { return find(lease.placement()).has_value(); }
  void replace_session(const SessionLease& lease, const ContextImage& image);  // waits; on failure it is as before
  void close_session(SessionLease lease);
  void rewind(const SessionLease& lease, int64_t position);                       // waits
  void fork(const SessionLease& from, const SessionLease& to, int64_t position);  // waits
  ContextImage save(const SessionLease& lease);                                   // waits

  EngineStats stats() const { return engine_->stats(); }
  int context_length() const { return engine_->context_length(); }
  int vocab_size() const { return engine_->vocab_size(); }
  int rows() const { return rows_; }
  const Permits& permits() const { return permits_; }
  const std::string& model() const { return model_; }
  bool busy() const { return permits_.free() < permits_.count(); }
  bool failed() const { return !engine_->stats().failure.empty(); }  // its thread has ended; for good
  void check_alive() const;                                          // ApiError{503 engine_stalled | engine_failed}

  void watch(double now_ms);  // by one thread, a few times a second
  bool stalled() const { return watchdog_.stalled(); }
  double still_ms(double now_ms) const { return watchdog_.still_ms(now_ms); }  // stats() shows nothing younger

 private:
  void check_owner(const SessionLease& lease) const;
  std::optional<ContextId> find(const SessionPlacement& placement) const;
  ContextId context_of(const SessionLease& lease) const;
  void bind(const SessionLease& lease, ContextId context);
  ContextId context_from(const ContextImage& image);
  template <class Work>
  auto between_steps(const Work& work);

  const std::string model_;
  const int rows_;
  Permits permits_;
  Watchdog watchdog_;
  std::counting_semaphore<> may_wait_;
  mutable std::mutex mutex_;
  std::map<SessionPlacement, ContextId> contexts_;
  std::unique_ptr<Engine> engine_;  // last: it releases the permits of what it cancels
};

}  // namespace genai::serve
