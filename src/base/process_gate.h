// A process-wide switch, settable by call and by environment, read on every run by any thread.
//
//   if (gates::phase_profile().on()) …          // one relaxed load once decided
//   gates::phase_profile().enable();            // wins over the environment, in every interleaving, for good
//
// Threads: any. Relaxed order suffices because nothing is published *through* a gate; if that changes, so must the
// order. Errors:  none.
#pragma once

#include <atomic>

#include "base/env.h"

namespace nxrt {

class ProcessGate {
 public:
  enum State : int { unknown = 0, off = 1, on_state = 2 };

  explicit constexpr ProcessGate(EnvName name, EnvName also = EnvName::none) : name_(name), also_(also) {}

  bool on() noexcept {
    const int state = state_.load(std::memory_order_relaxed);
    return state == unknown ? settle() : state == on_state;
  }
  void enable() noexcept { state_.store(on_state, std::memory_order_relaxed); }
  void disable() noexcept { state_.store(off, std::memory_order_relaxed); }

  // Publishes an answer read from the environment, unless somebody decided meanwhile; returns the state in force.
  // The exchange is from `unknown`: a plain store would revert an enable() made between the load and the store.
  bool publish_from_environment(bool answer) noexcept {
    int expected = unknown;
    const int wanted = answer ? on_state : off;
    if (state_.compare_exchange_strong(expected, wanted, std::memory_order_relaxed)) return answer;
    return expected == on_state;
  }

 private:
  friend class GateForTest;  // clears the gate on every exit of a test
  bool settle() noexcept;    // reads the environment once, then publishes

  std::atomic<int> state_{unknown};
  EnvName name_, also_;
};

namespace gates {
ProcessGate& phase_profile();           // NXRT_EXEC_PHASE_PROFILE
ProcessGate& activation_memory_plan();  // NXRT_ACTIVATION_MEMORY_PLAN
ProcessGate& dispatch_ledger();         // NXRT_CPU_DISPATCH_LEDGER
}  // namespace gates

}  // namespace nxrt
