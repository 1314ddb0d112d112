// Tells a working engine from one that stands still: work is pending and no step has ended for a while.
//
//   watchdog.observe(now_ms, stats.steps, pending > 0);   // twice a second
//   if (watchdog.stalled()) …                              // any thread
//
// Threads: observe by one, stalled by any.
#pragma once

#include <atomic>
#include <cstdint>

namespace genai::serve {

class Watchdog {
 public:
  explicit Watchdog(double limit_ms) : limit_ms_(limit_ms) {}

  void observe(double now_ms, int64_t progress, bool pending) {
    if (!pending_ || progress != progress_) since_ms_ = now_ms;
    pending_ = pending;
    progress_ = progress;
    stalled_.store(pending && now_ms - since_ms_ >= limit_ms_);
  }
  bool stalled() const { return stalled_.load(); }

 private:
  const double limit_ms_;
  int64_t progress_ = -1;
  bool pending_ = false;
  double since_ms_ = 0;  // nothing has moved since
  std::atomic<bool> stalled_{false};
};

}  // namespace genai::serve
