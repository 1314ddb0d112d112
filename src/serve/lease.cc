#include "serve/lease.h"

#include <functional>
#include <utility>

namespace genai::serve {

SessionLease::SessionLease(SessionLease&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)), placement_(std::move(other.placement_)) {}

SessionLease& SessionLease::operator=(SessionLease&& other) noexcept {
  if (this != &other) {
    release();
    table_ = std::exchange(other.table_, nullptr);
    placement_ = std::move(other.placement_);
  }
  return *this;
}

SessionLease::~SessionLease() { release(); }

void SessionLease::release() noexcept {
  if (table_ != nullptr) std::exchange(table_, nullptr)->release(placement_);
}

std::optional<SessionLease> SessionLeases::acquire(const SessionPlacement& placement) {
  Shard& shard = shard_of(placement);
  const std::lock_guard lock(shard.mutex);
  if (!shard.held.insert(placement).second) return std::nullopt;
  return SessionLease(*this, placement);
}

void SessionLeases::release(const SessionPlacement& placement) noexcept {
  Shard& shard = shard_of(placement);
  const std::lock_guard lock(shard.mutex);
  shard.held.erase(placement);
}

int SessionLeases::held() const {
  int count = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    count += static_cast<int>(shard.held.size());
  }
  return count;
}

bool SessionLeases::is_held(const SessionPlacement& placement) const {
  const Shard& shard = shard_of(placement);
  const std::lock_guard lock(shard.mutex);
  return shard.held.contains(placement);
}

SessionLeases::Shard& SessionLeases::shard_of(const SessionPlacement& placement) {
  return const_cast<Shard&>(std::as_const(*this).shard_of(placement));
}

const SessionLeases::Shard& SessionLeases::shard_of(const SessionPlacement& placement) const {
  const size_t hash = std::hash<std::string>()(placement.model) ^
                      std::hash<EngineSession>()(placement.engine_session) * 31 ^
                      std::hash<WorkerId>()(placement.worker) * 17;
  return shards_[hash % kShards];
}

}  // namespace genai::serve
