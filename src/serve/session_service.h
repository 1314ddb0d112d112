// Sessions as the routes use them: registry, leases, the models' contexts and durable files together.
//
//   HeldSession held = sessions.begin(id, owner, model);          // leased, before anything else is asked for
//   TurnPlan plan = …; sessions.wake(held, model);
//   Ticket ticket = model.driver->generate(std::move(held.lease), …, sessions.record(held.session, …));
//
// Threads: any. Errors: ApiError, Error; a session that can't be used is as before, and one that was made for what then
// failed is gone again. What can't be written to disk ends no turn: it is logged, counted, and written when it can be.
#pragma once

#include <mutex>

#include "serve/metrics.h"
#include "serve/model_hub.h"
#include "serve/reasoning.h"
#include "serve/session_registry.h"
#include "serve/session_store.h"
#include "serve/turn_listener.h"
#include "serve/turn_ticket.h"

namespace genai::serve {

struct SessionOptions {
  int most = 256;
  int64_t ttl_s = 0;                               // 0: never
  std::optional<std::filesystem::path> directory;  // durable sessions
  ForceToDisk force = force_to_disk;               // null: a turn's end doesn't wait for the disk
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
  using Log = std::function<void(const std::string&)>;
  SessionService(SessionOptions options, ModelHub& hub, Metrics& metrics, Log log);

  SessionRegistry& registry() { return registry_; }
  const SessionRegistry& registry() const { return registry_; }

  // Finds or makes, and leases. Another model's session: ApiError{400}.
  HeldSession begin(const SessionId& id, const std::string& owner, const std::string& model);
  // Gives it a context in the engine, from what is stored if it has none.
  void wake(const HeldSession& held, ServedModel& model);
  // `gate` opens when the finished turn is as durable as the options ask.
  std::unique_ptr<TurnRecord> record(std::shared_ptr<Session> session, const ServedModel& model, TurnPlan plan,
                                     std::shared_ptr<EndGate> gate);

  void close(HeldSession held) noexcept;                           // its context goes; durable files stay
  void discard(const std::shared_ptr<Session>& session) noexcept;  // if no turn of it has ended: it goes altogether
  void remove(const SessionId& id, const std::string& owner);
  std::shared_ptr<Session> fork(const SessionId& id, const std::string& owner, std::optional<int64_t> position);
  std::shared_ptr<Session> create(const SessionId& id, const std::string& owner, ServedModel& model);
  std::shared_ptr<Session> rewind(const SessionId& id, const std::string& owner, int64_t position);
  std::shared_ptr<Session> save(const SessionId& id, const std::string& owner);
  std::shared_ptr<Session> restore(const SessionId& id, const std::string& owner);

  void look_after();      // now and then: closes the idle, writes what couldn't be written
  void stop();            // keeps what durable sessions hold, for the next start
  void finish_writing();  // afterwards, when no engine runs any more

 private:
  class Record;
  SessionStore& store_or_refuse();
  std::shared_ptr<ServedModel> model_of(const HeldSession& held) const;  // null: it has no context anywhere
  ContextImage kept_image(const Session& session, const ServedModel& model) const;
  std::optional<SessionRegistry::Stored> load(const SessionId& id) const;
  void journal(const std::shared_ptr<Session>& session, const Change& change,
               std::function<void()> is_durable) noexcept;
  void in_memory_alone(Session& session, const Error& why) noexcept;
  void write_down(Session& session) noexcept;
  void close_later(HeldSession held);
  void note(const std::string& what, const Session& session, const Error& failure) noexcept;

  const SessionOptions options_;
  ModelHub& hub_;
  Metrics& metrics_;
  const Log log_;
  std::optional<SessionStore> store_;
  SessionRegistry registry_;
  std::mutex mutex_;
  std::vector<HeldSession> to_close_;  // unbound, on an engine that stands still; their leases go before the registry
  std::optional<DiskSync> disk_;       // last: what waits in it uses the rest
};

}  // namespace genai::serve
