#include "base/dispatch_ledger.h"

#include <algorithm>

namespace nxrt {

void DispatchLedger::append(std::string_view op, std::string_view route, std::string_view isa, int threads) {
  std::string key;
  for (const std::string_view part : {op, route, isa}) key.append(part).push_back('\0');
  key += std::to_string(threads);
  const std::lock_guard lock(mutex_);
  if (const auto known = index_.find(key); known != index_.end()) {
    ++entries_[known->second].calls;
  } else if (entries_.size() < kCapacity) {
    index_.emplace(std::move(key), entries_.size());
    entries_.push_back({std::string(op), std::string(route), std::string(isa), threads, 1});
  } else {
    ++dropped_;
  }
}

std::vector<Dispatch> DispatchLedger::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

int64_t DispatchLedger::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

bool DispatchLedger::saw(std::string_view op, std::string_view isa, std::string_view route) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      entries_, [&](const Dispatch& d) { return d.op == op && d.isa == isa && (route.empty() || d.route == route); });
}

void DispatchLedger::reset() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  index_.clear();
  dropped_ = 0;
}

DispatchLedger& ledger() {
  static DispatchLedger instance;
  return instance;
}

}  // namespace nxrt
