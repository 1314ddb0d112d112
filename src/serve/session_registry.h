// Which sessions live, by the client's name. Finding, leasing, binding and unbinding are one step under one lock.
//
//   HeldSession held = registry.open(id, owner, "smollm2");   // found or made; leased; throws ApiError 409, 429
//   driver.generate(std::move(held.lease), …);
//
// A full registry evicts the least recently used session that can be leased; when all are busy the newcomer gets 429.
// Eviction is a close: on_evict gets the session's lease and runs outside the lock. A session that is in memory alone
// (Session::unwritten) isn't evicted: it counts as busy.
// Threads: any. Errors: ApiError{404 unknown or another key's, 409 busy, 429 all busy}.
// Lock order: this registry's lock, then a lease shard or the figures'. on_load runs under this lock (a session is read
// once, by one), on_evict without it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "serve/session.h"

namespace genai::serve {

struct HeldSession {
  std::shared_ptr<Session> session;
  SessionLease lease;
  bool made = false;  // by this call
};

class SessionRegistry {
 public:
  using Evict = std::function<void(HeldSession)>;
  // Fills a session that isn't live from durable storage; false: there is none. `owner` and `model` come with it.
  struct Stored {
    std::string owner, model, fingerprint;
    int64_t created = 0;
    Conversation conversation;
  };
  using Load = std::function<std::optional<Stored>(const SessionId&)>;

  SessionRegistry(int most, Evict on_evict, Load on_load);

  // The session, found or made for `model` (empty: only found, else 404), and its lease.
  HeldSession open(const SessionId& id, const std::string& owner, const std::string& model);
  HeldSession make(const SessionId& id, const std::string& owner, const std::string& model);  // 409 when it exists
  HeldSession lease(const SessionId& id, const std::string& owner) { return open(id, owner, {}); }

  // Finds, leases and unbinds: afterwards the id is unknown and the caller closes what the lease stands for.
  // `unbound` runs under the lock: what it removes can't be found again meanwhile.
  HeldSession take_for_close(const SessionId& id, const std::string& owner, const std::function<void()>& unbound = {});
  void forget(const HeldSession& held);  // unbinds a session that its maker couldn't use
  // Leases and unbinds this very session, if no turn of it has ended; empty: it is of use, or busy, or gone.
  std::optional<HeldSession> take_unused(const std::shared_ptr<Session>& session);

  struct Look {
    std::shared_ptr<const Session> session;
    bool busy = false;
  };
  std::optional<std::string> model_of(const SessionId& id, const std::string& owner);  // nullopt: unknown
  Look look(const SessionId& id, const std::string& owner);                            // 404; takes nothing
  int live() const;
  SessionLeases& leases() { return leases_; }
  const SessionLeases& leases() const { return leases_; }

  void evict_idle(int64_t before);             // last used before this Unix second
  std::vector<HeldSession> lease_unwritten();  // those that can be leased
  std::vector<HeldSession> take_all();         // at shutdown: those that can be leased
  bool any_on(const std::string& model) const;

 private:
  template <class Work>
  auto locked(const Work& work);
  std::shared_ptr<Session> find(const SessionId& id, const std::string& owner, std::optional<HeldSession>& evicted);
  std::shared_ptr<Session> bind(const SessionId& id, Stored stored, std::optional<HeldSession>& evicted);
  std::optional<HeldSession> make_room();
  std::optional<HeldSession> try_take(std::map<SessionId, std::shared_ptr<Session>>::iterator at);
  SessionLease lease_or_refuse(const Session& session);
  void touch(Session& session);
  void count(const Session& session, int change);

  const int most_;
  const Evict on_evict_;
  const Load on_load_;
  SessionLeases leases_;
  mutable std::mutex mutex_;
  std::map<SessionId, std::shared_ptr<Session>> sessions_;
  std::map<std::string, int64_t> next_number_;  // per model
  std::map<SessionId, int64_t> used_;           // by a clock of uses: which was used least recently
  int64_t uses_ = 0;
  // Apart from mutex_, which is held while a session is read from the disk: status pages don't wait for that.
  mutable std::mutex figures_mutex_;
  std::map<std::string, int> live_on_;  // sessions, by model
};

// Forgets a session that this call made, unless its maker gets as far as keep().
class ForgetUnlessKept {
 public:
  ForgetUnlessKept(SessionRegistry& registry, const HeldSession& held) : registry_(registry), held_(held) {}
  ~ForgetUnlessKept() {
    if (held_.made && !kept_) registry_.forget(held_);
  }
  ForgetUnlessKept(const ForgetUnlessKept&) = delete;
  ForgetUnlessKept& operator=(const ForgetUnlessKept&) = delete;
  void keep() { kept_ = true; }

 private:
  SessionRegistry& registry_;
  const HeldSession& held_;
  bool kept_ = false;
};

}  // namespace genai::serve
