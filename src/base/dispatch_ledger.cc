#include "base/dispatch_ledger.h"

#include <algorithm>

namespace nxrt {

void DispatchLedger::append(std::string_view op, std::string_view route, std::string_view isa, int threads) {
  const std::lock_guard lock(mutex_);
  const auto same = std::ranges::find_if(entries_, [&](const Dispatch& d) {
    return d.op == op && d.route == route && d.isa == isa && d.threads == threads;
  });
  if (same != entries_.end()) {
    ++same->calls;
  } else if (entries_.size() < kCapacity) {
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
  dropped_ = 0;
}

DispatchLedger& ledger() {
  static DispatchLedger instance;
  return instance;
}

}  // namespace nxrt
