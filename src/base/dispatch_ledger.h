// Which implementation served each call: the proof that a fast path ran.
//
//   ledger().record("MatMulNBits", "int4 b32", "vnni", workers.width());
//   EXPECT_TRUE(ledger().saw("MatMulNBits", "vnni"));
//
// Threads: any. Off: record() costs one relaxed load.
// Memory:  at most kCapacity distinct-call entries; what is dropped is counted, so a truncated log can't prove absence.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/process_gate.h"

namespace nxrt {

struct Dispatch {
  std::string op, route, isa;
  int threads = 1;
  int64_t calls = 0;
};

class DispatchLedger {
 public:
  static constexpr size_t kCapacity = 65'536;
  void record(std::string_view op, std::string_view route, std::string_view isa, int threads) {
    if (gates::dispatch_ledger().on()) append(op, route, isa, threads);
  }
  std::vector<Dispatch> entries() const;  // merged by (op, route, isa, threads), in first-seen order
  int64_t dropped() const;
  bool saw(std::string_view op, std::string_view isa, std::string_view route = {}) const;
  void reset();

 private:
  void append(std::string_view op, std::string_view route, std::string_view isa, int threads);
  mutable std::mutex mutex_;
  std::vector<Dispatch> entries_;
  std::unordered_map<std::string, size_t> index_;  // joined names → entry
  int64_t dropped_ = 0;
};

DispatchLedger& ledger();

}  // namespace nxrt
