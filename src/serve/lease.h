// The right to run one turn on a session, or to close it.
//
//   SessionLeases leases;
//   std::optional<SessionLease> lease = leases.acquire(session.placement);   // empty: a turn is running
//   driver.generate(std::move(lease), request);
//
// A SessionLease is move-only; its destructor releases it and nothing else does. A SessionPlacement says where a
// session lives and nothing about who may run.
// Threads: any. Errors: none; a taken lease answers empty, it never waits. Memory: the table must outlive its leases.
// Lock order: the registry's lock first, then a shard of this table.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/ids.h"

namespace genai::serve {

using WorkerId = nxrt::Id<struct WorkerTag>;                       // an engine of a model
using EngineSession = nxrt::Id<struct EngineSessionTag, int64_t>;  // a session's number within its worker

// Numbers of different workers or models may be equal; the whole placement never is.
struct SessionPlacement {
  std::string model;
  WorkerId worker;
  EngineSession engine_session;
  auto operator<=>(const SessionPlacement&) const = default;
};

class SessionLeases;

class [[nodiscard]] SessionLease {
 public:
  SessionLease(SessionLease&& other) noexcept;
  SessionLease& operator=(SessionLease&& other) noexcept;
  ~SessionLease();

  const SessionPlacement& placement() const { return placement_; }

 private:
  friend class SessionLeases;
  SessionLease(SessionLeases& table, SessionPlacement placement) : table_(&table), placement_(std::move(placement)) {}
  void release() noexcept;

  SessionLeases* table_;  // null: moved from
  SessionPlacement placement_;
};

class SessionLeases {
 public:
  std::optional<SessionLease> acquire(const SessionPlacement& placement);  // empty: somebody holds it
  int held() const;                                       // for the status page; already past when it is read
  bool is_held(const SessionPlacement& placement) const;  // for tests: decisions take the lease instead

 private:
  friend class SessionLease;
  struct Shard {
    mutable std::mutex mutex;
    std::set<SessionPlacement> held;
  };
  static constexpr size_t kShards = 8;

  Shard& shard_of(const SessionPlacement& placement);
  const Shard& shard_of(const SessionPlacement& placement) const;
  void release(const SessionPlacement& placement) noexcept;

  std::array<Shard, kShards> shards_;
};

}  // namespace genai::serve
