#include "base/dispatch_ledger.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/gate_for_test.h"

namespace nxrt {
namespace {

TEST(DispatchLedger, OffRecordsNothing) {
  GateForTest owned(gates::dispatch_ledger());
  gates::dispatch_ledger().disable();
  DispatchLedger log;
  log.record("MatMul", "panels", "avx2", 2);
  EXPECT_TRUE(log.entries().empty());
  EXPECT_EQ(log.dropped(), 0);
}

TEST(DispatchLedger, MergesEqualCallsInFirstSeenOrder) {
  GateForTest owned(gates::dispatch_ledger());
  DispatchLedger log;
  log.record("MatMulNBits", "int4 b32", "vnni", 2);
  log.record("MatMul", "panels", "avx2", 2);
  log.record("MatMulNBits", "int4 b32", "vnni", 2);
  log.record("MatMulNBits", "int4 b32", "vnni", 1);
  const auto entries = log.entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].op, "MatMulNBits");
  EXPECT_EQ(entries[0].calls, 2);
  EXPECT_EQ(entries[1].op, "MatMul");
  EXPECT_EQ(entries[2].threads, 1);
}

TEST(DispatchLedger, SawNeedsTheIsaAndTheRouteWhenGiven) {
  GateForTest owned(gates::dispatch_ledger());
  DispatchLedger log;
  log.record("MatMulNBits", "int4 b32", "vnni", 2);
  EXPECT_TRUE(log.saw("MatMulNBits", "vnni"));
  EXPECT_TRUE(log.saw("MatMulNBits", "vnni", "int4 b32"));
  EXPECT_FALSE(log.saw("MatMulNBits", "avx2"));
  EXPECT_FALSE(log.saw("MatMulNBits", "vnni", "int8 b32"));
  EXPECT_FALSE(log.saw("MatMul", "vnni"));
}

TEST(DispatchLedger, IsBoundedAndCountsWhatItDrops) {
  GateForTest owned(gates::dispatch_ledger());
  DispatchLedger log;
  for (size_t i = 0; i < DispatchLedger::kCapacity + 5; ++i) {
    log.record("MatMul", "shape " + std::to_string(i), "scalar", 1);
  }
  EXPECT_EQ(log.entries().size(), DispatchLedger::kCapacity);
  EXPECT_EQ(log.dropped(), 5);
  log.record("MatMul", "shape 0", "scalar", 1);  // known entries still count
  EXPECT_EQ(log.entries()[0].calls, 2);
  EXPECT_EQ(log.dropped(), 5);
  log.reset();
  EXPECT_TRUE(log.entries().empty());
  EXPECT_EQ(log.dropped(), 0);
}

TEST(DispatchLedger, CountsCallsFromManyThreads) {
  GateForTest owned(gates::dispatch_ledger());
  DispatchLedger log;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) log.record("Add", "same shape", "scalar", 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(log.entries().size(), 1u);
  EXPECT_EQ(log.entries()[0].calls, 2000);
}

}  // namespace
}  // namespace nxrt
