// Sessions as the routes use them: registry, leases, the models' contexts and durable files together.
//
//   HeldSession held = sessions.begin(id, owner, model);          // leased, before anything else is asked for
//   TurnPlan plan = …; sessions.wake(held, model);
//   Ticket ticket = model.driver->generate(std::move(held.lease), …, sessions.record(held.session, …));
//
// Threads: any. Errors: ApiError, Error; a session that can't be used is as before.
#pragma once

#include "serve/metrics.h"
#include "serve/model_hub.h"
#include "serve/reasoning.h"
#include "serve/session_registry.h"
#include "serve/session_store.h"
#include "serve/turn_listener.h"

namespace genai::serve {

struct SessionOptions {
  int most = 256;
  int64_t ttl_s = 0;                               // 0: never
  std::optional<std::filesystem::path> directory;  // durable sessions
};

// How a turn changes its session once its answer is complete.
struct TurnPlan {
  int64_t keep = 0;               // of the context's tokens
  std::vector<TokenId> prompt;    // appended
  Json messages = Json::array();  // new ones of a chat; empty for a plain completion
  bool thinks_first = false;      // the prompt opened the reasoning part
};

class SessionService {
 public:
  SessionService(SessionOptions options, ModelHub& hub, Metrics& metrics);

  SessionRegistry& registry() { return registry_; }
  const SessionRegistry& registry() const { return registry_; }

  // Finds or makes, and leases. Another model's session: ApiError{400}.
  HeldSession begin(const SessionId& id, const std::string& owner, const std::string& model);
  // Gives it a context in the engine, from what is stored if it has none.
  void wake(const HeldSession& held, ServedModel& model);
  std::unique_ptr<TurnRecord> record(std::shared_ptr<Session> session, const ServedModel& model, TurnPlan plan);

  void close(HeldSession held);  // its context goes; durable files stay
  void remove(const SessionId& id, const std::string& owner);
  std::shared_ptr<Session> fork(const SessionId& id, const std::string& owner, std::optional<int64_t> position);
  std::shared_ptr<Session> rewind(const SessionId& id, const std::string& owner, int64_t position);
  std::shared_ptr<Session> save(const SessionId& id, const std::string& owner);
  std::shared_ptr<Session> restore(const SessionId& id, const std::string& owner);

  void evict_idle();
  void stop();  // keeps what durable sessions hold, for the next start

 private:
  class Record;
  SessionStore& store_or_refuse();
  std::optional<SessionRegistry::Stored> load(const SessionId& id) const;
  void journal(Session& session, const Change& change) noexcept;

  const SessionOptions options_;
  ModelHub& hub_;
  Metrics& metrics_;
  std::optional<SessionStore> store_;
  SessionRegistry registry_;
};

}  // namespace genai::serve
