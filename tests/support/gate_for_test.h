// Owns a process gate for one test: forces it on, and clears it on every way out, exceptions included.
//
//   GateForTest gate(gates::phase_profile());   // on until the end of the scope, then undecided
//
// Threads: tests that *write* gates hold one lock for the life of the guard. Readers that settle an undecided gate
// meanwhile
//          are not covered, and need not be: they publish only from `unknown`.
#pragma once

#include <mutex>

#include "base/process_gate.h"

namespace nxrt {

class GateForTest {
 public:
  explicit GateForTest(ProcessGate& gate) : lock_(mutex()), gate_(gate) { gate_.enable(); }
  ~GateForTest() { clear(gate_); }
  GateForTest(const GateForTest&) = delete;
  GateForTest& operator=(const GateForTest&) = delete;

  static int state(const ProcessGate& gate) { return gate.state_.load(std::memory_order_relaxed); }

 private:
  static void clear(ProcessGate& gate) { gate.state_.store(ProcessGate::unknown, std::memory_order_relaxed); }
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> lock_;
  ProcessGate& gate_;
};

}  // namespace nxrt
