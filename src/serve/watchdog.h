// Tells a working engine from one that stands still: work is pending and no step has ended for a while.
//
//   watchdog.observe(now_ms, stats.steps, pending > 0);   // twice a second
//   if (watchdog.stalled()) …                              // any thread
//
// Threads: observe by one, stalled and still_ms by any.
#pragma once

#include <atomic>
#include <cstdint>

namespace genai::serve {

class Watchdog {
 public:
  explicit Watchdog(double limit_ms) : limit_ms_(limit_ms) {}

  void observe(double now_ms, int64_t progress, bool pending) {
    if (!pending_ || progress != progress_) since_ms_.store(now_ms);
    pending_.store(pending);
    progress_ = progress;
    stalled_.store(pending && now_ms - since_ms_ >= limit_ms_);
  }
  bool stalled() const { return stalled_.load(); }
  double still_ms(double now_ms) const { return pending_ ? now_ms - since_ms_ : 0; }  // with work and no progress

 private:
  const double limit_ms_;
  int64_t progress_ = -1;
  std::atomic<bool> pending_{false};
  std::atomic<double> since_ms_{0};  // nothing has moved since
  std::atomic<bool> stalled_{false};
};

}  // namespace genai::serve
