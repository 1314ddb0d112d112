#include "serve/session_registry.h"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "serve/api_error.h"

namespace genai::serve {
namespace {

SessionId id(const std::string& text) { return *SessionId::parse(text); }

// The status and code that `work` is refused with.
template <class Work>
std::pair<int, std::string> refusal(const Work& work) {
  try {
    work();
  } catch (const ApiError& error) {
    return {error.status, error.code};
  }
  return {0, ""};
}

struct Registry {
  explicit Registry(int most)
      : registry(most, [this](HeldSession held) { evicted.push_back(held.session->id.text()); }, nullptr) {}
  std::vector<std::string> evicted;
  SessionRegistry registry;
};

TEST(SessionRegistry, MakesFindsAndRefuses) {
  Registry r(4);
  {
    const HeldSession held = r.registry.open(id("a"), "key", "m");
    EXPECT_TRUE(held.made);
    EXPECT_EQ(refusal([&] { r.registry.open(id("a"), "key", "m"); }), std::pair(409, std::string("session_busy")));
    EXPECT_EQ(refusal([&] { r.registry.take_for_close(id("a"), "key"); }).first, 409);
    EXPECT_TRUE(r.registry.look(id("a"), "key").busy);
  }
  EXPECT_FALSE(r.registry.open(id("a"), "key", "m").made);
  EXPECT_FALSE(r.registry.look(id("a"), "key").busy);
  EXPECT_EQ(refusal([&] { r.registry.make(id("a"), "key", "m"); }).second, "session_exists");
}

TEST(SessionRegistry, AnotherKeysSessionDoesNotExist) {
  Registry r(4);
  r.registry.open(id("a"), "mine", "m");
  EXPECT_EQ(refusal([&] { r.registry.look(id("a"), "yours"); }).first, 404);
  EXPECT_EQ(refusal([&] { r.registry.open(id("a"), "yours", "m"); }).first, 404);
  EXPECT_EQ(refusal([&] { r.registry.take_for_close(id("a"), "yours"); }).first, 404);
}

TEST(SessionRegistry, ClosingUnbindsAtOnce) {
  Registry r(4);
  r.registry.open(id("a"), "", "m");
  EXPECT_EQ(refusal([&] { r.registry.take_for_close(id("b"), ""); }).first, 404);
  const HeldSession held = r.registry.take_for_close(id("a"), "");
  EXPECT_EQ(r.registry.live(), 0);
  EXPECT_TRUE(r.registry.open(id("a"), "", "m").made);  // a new one, though the old one is still being closed
}

TEST(SessionRegistry, EvictsTheLeastRecentlyUsedThatIsFree) {
  Registry r(3);
  r.registry.open(id("a"), "", "m");
  r.registry.open(id("b"), "", "m");
  r.registry.open(id("c"), "", "m");
  const HeldSession busy = r.registry.open(id("b"), "", "m");
  r.registry.open(id("a"), "", "m");  // c is the oldest now, then b, which is busy
  r.registry.open(id("d"), "", "m");
  r.registry.open(id("e"), "", "m");
  EXPECT_EQ(r.evicted, (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(r.registry.live(), 3);
}

TEST(SessionRegistry, RefusesWhenAllAreBusy) {
  Registry r(2);
  const HeldSession a = r.registry.open(id("a"), "", "m"), b = r.registry.open(id("b"), "", "m");
  EXPECT_EQ(refusal([&] { r.registry.open(id("c"), "", "m"); }), std::pair(429, std::string("too_many_sessions")));
  EXPECT_EQ(r.registry.live(), 2);
  EXPECT_TRUE(r.evicted.empty());
}

TEST(SessionRegistry, TwoFirstRequestsMakeOneSession) {
  Registry r(200);
  for (int round = 0; round < 100; ++round) {
    std::barrier together(4);
    std::atomic<int> made{0}, busy{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        together.arrive_and_wait();
        std::optional<HeldSession> held;
        const auto [status, code] = refusal([&] { held = r.registry.open(id(std::to_string(round)), "", "m"); });
        made += held && held->made;
        busy += status == 409;
        together.arrive_and_wait();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(busy, 3);
    EXPECT_EQ(r.registry.live(), round + 1);
  }
}

TEST(SessionRegistry, EvictsTheIdleButNotTheBusy) {
  Registry r(10);
  r.registry.open(id("a"), "", "m");
  const HeldSession busy = r.registry.open(id("b"), "", "m");
  r.registry.evict_idle(INT64_MAX);
  EXPECT_EQ(r.evicted, (std::vector<std::string>{"a"}));
  EXPECT_EQ(r.registry.live(), 1);
}

TEST(SessionRegistry, ReadsAStoredSessionOnceAndItsOwnerStays) {
  int loads = 0;
  SessionRegistry registry(
      4, [](const HeldSession&) {},
      [&](const SessionId& wanted) -> std::optional<SessionRegistry::Stored> {
        if (wanted.text() != "kept") return std::nullopt;
        ++loads;
        return SessionRegistry::Stored{
            .owner = "me", .model = "m", .created = 5, .conversation = {.tokens = {TokenId(3)}}};
      });
  EXPECT_EQ(refusal([&] { registry.lease(id("kept"), "you"); }).first, 404);
  const HeldSession held = registry.lease(id("kept"), "me");
  EXPECT_FALSE(held.made);
  EXPECT_EQ(held.session->token_count, 1);
  EXPECT_EQ(held.session->created, 5);
  EXPECT_EQ(refusal([&] { registry.lease(id("other"), "me"); }).first, 404);
  EXPECT_EQ(loads, 2);
}

}  // namespace
}  // namespace genai::serve
