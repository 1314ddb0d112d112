#include "serve/session_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "serve/api_error.h"

namespace genai::serve {
namespace {
int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

ApiError unknown(const SessionId& id) {
  return ApiError::not_found("session '" + id.text() + "' does not exist", "session_not_found", "session_id");
}
}  // namespace

SessionRegistry::SessionRegistry(int most, Evict on_evict, Load on_load)
    : most_(most), on_evict_(std::move(on_evict)), on_load_(std::move(on_load)) {}

// Runs `work` under the lock; what it evicted is closed afterwards, without the lock.
template <class Work>
auto SessionRegistry::locked(const Work& work) {
  std::optional<HeldSession> evicted;
  auto result = [&] {
    const std::lock_guard lock(mutex_);
    return work(evicted);
  }();
  if (evicted) on_evict_(std::move(*evicted));
  return result;
}

HeldSession SessionRegistry::open(const SessionId& id, const std::string& owner, const std::string& model) {
  return locked([&](std::optional<HeldSession>& evicted) {
    std::shared_ptr<Session> session = find(id, owner, evicted);
    const bool made = session == nullptr;
    if (made) {
      if (model.empty() || sessions_.contains(id)) throw unknown(id);  // another key's doesn't exist for this one
      session = bind(id, {.owner = owner, .model = model, .created = unix_now(), .conversation = {}}, evicted);
    }
    HeldSession held{session, lease_or_refuse(*session), made};
    touch(*session);
    return held;
  });
}

HeldSession SessionRegistry::make(const SessionId& id, const std::string& owner, const std::string& model) {
  HeldSession held = open(id, owner, model);
  if (!held.made) throw ApiError::conflict("session_exists", "session '" + id.text() + "' exists; choose another name");
  return held;
}

HeldSession SessionRegistry::take_for_close(const SessionId& id, const std::string& owner,
                                            const std::function<void()>& unbound) {
  return locked([&](std::optional<HeldSession>& evicted) {
    std::shared_ptr<Session> session = find(id, owner, evicted);
    if (!session) throw unknown(id);
    HeldSession held{session, lease_or_refuse(*session), false};
    sessions_.erase(id);
    used_.erase(id);
    count(*session, -1);
    if (unbound) unbound();
    return held;
  });
}

void SessionRegistry::forget(const HeldSession& held) {
  const std::lock_guard lock(mutex_);
  const auto it = sessions_.find(held.session->id);
  if (it == sessions_.end() || it->second != held.session) return;
  used_.erase(held.session->id);
  sessions_.erase(it);
  count(*held.session, -1);
}

std::optional<HeldSession> SessionRegistry::take_unused(const std::shared_ptr<Session>& session) {
  const std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session->id);
  if (it == sessions_.end() || it->second != session || session->turns.load() > 0) return std::nullopt;
  return try_take(it);
}

SessionRegistry::Look SessionRegistry::look(const SessionId& id, const std::string& owner) {
  return locked([&](std::optional<HeldSession>& evicted) {
    std::shared_ptr<Session> session = find(id, owner, evicted);
    if (!session) throw unknown(id);
    return Look{session, leases_.is_held(session->placement)};
  });
}

std::optional<std::string> SessionRegistry::model_of(const SessionId& id, const std::string& owner) {
  return locked([&](std::optional<HeldSession>& evicted) {
    const std::shared_ptr<Session> session = find(id, owner, evicted);
    return session ? std::optional(session->placement.model) : std::nullopt;
  });
}

int SessionRegistry::live() const {
  const std::lock_guard lock(figures_mutex_);
  int all = 0;
  for (const auto& [model, live] : live_on_) all += live;
  return all;
}

void SessionRegistry::evict_idle(int64_t before) {
  std::vector<HeldSession> evicted;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      const auto at = it++;
      if (at->second->last_used.load() >= before || at->second->unwritten.load()) continue;
      if (std::optional<HeldSession> held = try_take(at)) evicted.push_back(std::move(*held));
    }
  }
  for (HeldSession& held : evicted) on_evict_(std::move(held));
}

std::vector<HeldSession> SessionRegistry::lease_unwritten() {
  std::vector<HeldSession> leased;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, session] : sessions_) {
    if (!session->unwritten.load()) continue;
    std::optional<SessionLease> lease = leases_.acquire(session->placement);
    if (lease) leased.push_back({session, std::move(*lease), false});
  }
  return leased;
}

std::vector<HeldSession> SessionRegistry::take_all() {
  std::vector<HeldSession> taken;
  const std::lock_guard lock(mutex_);
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    if (std::optional<HeldSession> held = try_take(it++)) taken.push_back(std::move(*held));
  }
  return taken;
}

bool SessionRegistry::any_on(const std::string& model) const {
  const std::lock_guard lock(figures_mutex_);
  const auto it = live_on_.find(model);
  return it != live_on_.end() && it->second > 0;
}

// Null: neither live nor stored, or another key's.
std::shared_ptr<Session> SessionRegistry::find(const SessionId& id, const std::string& owner,
                                               std::optional<HeldSession>& evicted) {
  auto it = sessions_.find(id);
  if (it == sessions_.end() && on_load_) {
    std::optional<Stored> stored = on_load_(id);
    if (!stored || stored->owner != owner) return nullptr;
    return bind(id, std::move(*stored), evicted);
  }
  if (it == sessions_.end() || it->second->owner != owner) return nullptr;
  return it->second;
}

std::shared_ptr<Session> SessionRegistry::bind(const SessionId& id, Stored stored,
                                               std::optional<HeldSession>& evicted) {
  if (static_cast<int>(sessions_.size()) >= most_) evicted = make_room();
  SessionPlacement placement{stored.model, WorkerId(0), EngineSession(next_number_[stored.model]++)};
  auto session = std::make_shared<Session>(id, std::move(stored.owner), std::move(placement), stored.created);
  session->conversation = std::move(stored.conversation);
  session->fingerprint = std::move(stored.fingerprint);
  session->publish();
  sessions_.emplace(id, session);
  count(*session, +1);
  touch(*session);
  return session;
}

// The least recently used session that can be leased goes.
std::optional<HeldSession> SessionRegistry::make_room() {
  std::vector<std::pair<int64_t, SessionId>> by_use;
  for (const auto& [id, use] : used_) by_use.emplace_back(use, id);
  std::ranges::sort(by_use);
  for (const auto& [use, id] : by_use) {
    const auto candidate = sessions_.find(id);
    if (candidate->second->unwritten.load()) continue;
    if (std::optional<HeldSession> held = try_take(candidate)) return held;
  }
  throw ApiError::capacity(
      fmt::format("all {} sessions are busy with a turn; try again when one ends, or start the server with a larger "
                  "--max-sessions",
                  most_),
      "too_many_sessions");
}

std::optional<HeldSession> SessionRegistry::try_take(std::map<SessionId, std::shared_ptr<Session>>::iterator at) {
  std::optional<SessionLease> lease = leases_.acquire(at->second->placement);
  if (!lease) return std::nullopt;
  HeldSession held{at->second, std::move(*lease), false};
  used_.erase(at->first);
  sessions_.erase(at);
  count(*held.session, -1);
  return held;
}

SessionLease SessionRegistry::lease_or_refuse(const Session& session) {
  std::optional<SessionLease> lease = leases_.acquire(session.placement);
  if (!lease) throw ApiError::session_busy(session.id.text());
  return std::move(*lease);
}

void SessionRegistry::count(const Session& session, int change) {
  const std::lock_guard lock(figures_mutex_);
  live_on_[session.placement.model] += change;
}

void SessionRegistry::touch(Session& session) {
  used_[session.id] = ++uses_;
  session.last_used.store(unix_now());
}

}  // namespace genai::serve
