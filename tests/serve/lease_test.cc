#include "serve/lease.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <set>
#include <stdexcept>
#include <thread>

#include "serve/session_id.h"

namespace genai::serve {
namespace {

SessionPlacement place(const std::string& model, int64_t number) { return {model, WorkerId(0), EngineSession(number)}; }

TEST(SessionLease, OneOfManyRacingThreadsTakesIt) {
  constexpr int kThreads = 8, kRounds = 200;
  SessionLeases leases;
  std::barrier together(kThreads);
  std::atomic<int> won{0}, lost{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        together.arrive_and_wait();
        const std::optional<SessionLease> lease = leases.acquire(place("m", 7));
        ++(lease ? won : lost);
        together.arrive_and_wait();  // held until everyone has tried
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, kRounds);
  EXPECT_EQ(lost, kRounds * (kThreads - 1));
  EXPECT_EQ(leases.held(), 0);
}

TEST(SessionLease, DistinctSessionsNeverConflict) {
  SessionLeases leases;
  std::vector<SessionLease> held;
  for (int64_t number = 0; number < 100; ++number) {
    std::optional<SessionLease> lease = leases.acquire(place("m", number));
    ASSERT_TRUE(lease);
    held.push_back(std::move(*lease));
  }
  EXPECT_EQ(leases.held(), 100);
}

TEST(SessionLease, TheSameNumberUnderTwoModelsIsTwoSessions) {
  SessionLeases leases;
  const auto first = leases.acquire(place("a", 1)), second = leases.acquire(place("b", 1));
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(leases.acquire(place("a", 1)));
}

TEST(SessionLease, AnExceptionReleasesIt) {
  SessionLeases leases;
  EXPECT_THROW(
      {
        const auto lease = leases.acquire(place("m", 1));
        EXPECT_TRUE(leases.is_held(place("m", 1)));
        throw std::runtime_error("in the middle of a turn");
      },
      std::runtime_error);
  EXPECT_TRUE(leases.acquire(place("m", 1)));
}

TEST(SessionLease, MovesAndIsReleasedOnce) {
  SessionLeases leases;
  std::optional<SessionLease> first = leases.acquire(place("m", 1));
  SessionLease second = std::move(*first);
  first.reset();
  EXPECT_TRUE(leases.is_held(place("m", 1)));
  SessionLease other = std::move(*leases.acquire(place("m", 2)));
  second = std::move(other);
  EXPECT_FALSE(leases.is_held(place("m", 1)));
  EXPECT_TRUE(leases.is_held(place("m", 2)));
}

TEST(SessionId, IsRandomAndShownShortened) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(SessionId::random().text());
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(seen.begin()->size(), 5u + 32u);
  EXPECT_EQ(SessionId::parse("sess-0123456789abcdef0123456789abcdef")->redacted(), "sess-01234567…");
  EXPECT_EQ(SessionId::parse("my-chat")->redacted(), "[redacted]");
}

TEST(SessionId, RefusesWhatIsNoName) {
  EXPECT_FALSE(SessionId::parse(""));
  EXPECT_FALSE(SessionId::parse("a b"));
  EXPECT_FALSE(SessionId::parse("a\n"));
  EXPECT_FALSE(SessionId::parse("\xc3\xa9"));
  EXPECT_FALSE(SessionId::parse(std::string(129, 'a')));
  EXPECT_TRUE(SessionId::parse(std::string(128, 'a')));
}

}  // namespace
}  // namespace genai::serve
