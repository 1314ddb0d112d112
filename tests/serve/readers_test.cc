// Slow, stalled and vanished readers; failing and standing engines.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Json completion(int max_tokens, bool stream) {
  return {{"prompt", "abc"}, {"max_tokens", max_tokens}, {"temperature", 0}, {"stream", stream}};
}

TEST(Readers, ASlowOneLosesNothing) {
  ServerBench bench;
  Request request{.prompt = ByteTokenizer().encode("abc", {}), .max_tokens = 48, .sampling = {.temperature = 0}};
  Driver& driver = *bench.server->models().get("")->driver;
  Ticket ticket = driver.generate(std::nullopt, std::move(request));
  std::string text;
  bool ended = false;
  while (auto event = ticket.next()) {
    text += event->text;
    ended = event->finish && event->finish->reason == Finish::Reason::length;
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(text, expected_text("abc", 48));
  EXPECT_TRUE(ended);
}

TEST(Readers, AStalledOneEndsAloneAndFreesItsSession) {
  ServerBench bench;
  Open stalled = bench.open("POST", "/v1/completions", completion(3000, true).dump(), {{"x-session-id", "s"}});
  ASSERT_EQ(stalled.reply.status, 200);
  const auto began = Clock::now();
  EXPECT_EQ(bench.post("/v1/completions", completion(200, true)).joined(), expected_text("abc", 200));
  EXPECT_LT(Clock::now() - began, 5s);
  EXPECT_TRUE(bench.becomes_idle()) << "the stalled turn never released its lease";
  EXPECT_GE(Clock::now() - began, 900ms);
  const Reading rest = ServerBench::finish(std::move(stalled));
  EXPECT_EQ(rest.events.back()["error"]["message"], "stream consumer stalled: output buffer stayed full");
  EXPECT_EQ(expected_text("abc", 3000).substr(0, rest.joined().size()), rest.joined());
  EXPECT_GE(rest.joined().size(), 16u);
}

TEST(Readers, VanishedOnesDontTouchTheOthers) {
  ServerBench bench({.rows = 16});
  Open steady = bench.open("POST", "/v1/completions", completion(500, true).dump());
  Reading reading;
  const auto read_what_is_there = [&] {
    while (auto frame = steady.reply.events->poll()) reading.text += *frame;
  };
  for (int i = 0; i < 100; ++i) {
    const Open gone = bench.open("POST", "/v1/completions", completion(3000, true).dump());
    ASSERT_EQ(gone.reply.status, 200);
    read_what_is_there();
  }
  while (!steady.reply.events->done()) {
    ASSERT_TRUE(steady.wakeup->wait());
    read_what_is_there();
  }
  parse_events(reading);
  EXPECT_EQ(reading.joined(), expected_text("abc", 500));
  EXPECT_TRUE(bench.becomes_idle());
}

TEST(Readers, AQueuedRequestWhoseClientLeftNeverRuns) {
  ServerBench bench({.rows = 1});
  Open running = bench.open("POST", "/v1/completions", completion(2000, true).dump());
  Json waiting_body = completion(5, false);
  waiting_body["prompt"] = std::string(200, 'q');
  Open waiting = bench.open("POST", "/v1/completions", waiting_body.dump());
  waiting = {};
  running = {};
  EXPECT_TRUE(bench.becomes_idle());
  EXPECT_LE(bench.status()["models"][0]["prompt_tokens"], 3);  // the running one's
}

TEST(Readers, OneThatLeavesWhileItsPromptIsReadEndsTheReading) {
  constexpr int kChunk = 512;
  std::atomic<int> chunks{0};
  ServerBench bench({.context = 20'000, .blocks = 2000});
  bench.before_step = [&](const Step&) {
    ++chunks;
    std::this_thread::sleep_for(10ms);
  };
  Json body = completion(5, false);
  body["prompt"] = std::string(8000, 'a');
  {
    const Open gone = bench.open("POST", "/v1/completions", body.dump());
    while (chunks < 2) std::this_thread::sleep_for(1ms);
  }
  const int seen = chunks;
  EXPECT_TRUE(bench.becomes_idle());
  EXPECT_LE(chunks, seen + 1);
  EXPECT_LE(bench.status()["models"][0]["prompt_tokens"], (seen + 1) * kChunk);
}

TEST(Readers, TheOnlyRowIsFreeForTheNextAsSoonAsOneLeaves) {
  ServerBench bench({.rows = 1});
  bench.before_step = [](const Step&) { std::this_thread::sleep_for(200us); };
  for (int round = 0; round < 100; ++round) {
    {
      Open gone = bench.open("POST", "/v1/completions", completion(3000, true).dump());
      while (!gone.reply.events->poll()) ASSERT_TRUE(gone.wakeup->wait());
    }
    const Json before = bench.status()["models"][0]["tokens_generated"];
    EXPECT_EQ(bench.post("/v1/completions", completion(8, false)).status, 200);
    const Json after = bench.status()["models"][0]["tokens_generated"];
    EXPECT_LE(after.get<int>() - before.get<int>(), 8 + 3) << "it worked on for the one that left";
  }
}

TEST(Readers, RowsAndQueueHoldWhatTheyWereGiven) {
  constexpr int kRows = 2, kQueue = 3;
  std::atomic<size_t> most{0};
  std::atomic<bool> parked{true};
  ServerBench bench({.driver = {.max_queue = kQueue}, .rows = kRows});
  bench.before_step = [&](const Step& step) {
    most = std::max(most.load(), step.sequences.size());
    while (parked) std::this_thread::sleep_for(1ms);
  };
  std::vector<Open> all;
  for (int i = 0; i < kRows + kQueue + 1; ++i) {
    all.push_back(bench.open("POST", "/v1/completions", completion(8, false).dump()));
  }
  parked = false;
  EXPECT_EQ(all.back().reply.status, 429);
  for (Open& one : all) {
    const bool refused = &one == &all.back();
    EXPECT_EQ(ServerBench::finish(std::move(one)).status, refused ? 429 : 200);
  }
  EXPECT_EQ(most, static_cast<size_t>(kRows));
  EXPECT_EQ(bench.status()["models"][0]["rows"], kRows);
}

TEST(Engine, AStandingOneIsSeenAndRefused) {
  std::atomic<bool> parked{true};
  ServerBench bench({.driver = {.stall_ms = 200}});
  bench.before_step = [&](const Step&) {
    while (parked) std::this_thread::sleep_for(1ms);
  };
  EXPECT_EQ(bench.get("/ready").status, 200);
  Open stuck = bench.open("POST", "/v1/completions", completion(5, false).dump());
  for (int i = 0; i < 10; ++i) {
    bench.server->tick();
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(bench.get("/ready").status, 503);
  EXPECT_EQ(bench.get("/health").status, 200);
  const auto began = Clock::now();
  for (const char* path : {"/v1/status", "/metrics", "/v1/models"}) EXPECT_EQ(bench.get(path).status, 200);
  const Reading refused = bench.post("/v1/completions", completion(5, false));
  EXPECT_LT(Clock::now() - began, 1s);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "engine_stalled");
  EXPECT_EQ(refused.headers.at("Retry-After"), "1");
  parked = false;
  EXPECT_EQ(ServerBench::finish(std::move(stuck)).status, 200);
  bench.server->tick();
  EXPECT_EQ(bench.get("/ready").status, 200);
}

TEST(Engine, OneLoadForManyFirstRequests) {
  BenchOptions options;
  options.server.models = {"one", "two"};
  options.server.hub = {.most_loaded = 1, .most_waiting = 8};
  ServerBench bench(options);
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] { EXPECT_EQ(bench.post("/v1/completions", completion(3, false)).status, 200); });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(bench.loads, 1);
  Json other = completion(3, false);
  other["model"] = "two";
  for (int i = 0; i < 200 && bench.server->models().loaded().empty(); ++i) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(bench.post("/v1/completions", other).status, 200);
  EXPECT_EQ(bench.server->models().loaded().size(), 1u);
  other["model"] = "three";
  EXPECT_EQ(bench.post("/v1/completions", other).code(), "model_not_found");
}

TEST(Engine, AModelInUseIsNotUnloaded) {
  BenchOptions options;
  options.server.models = {"one", "two"};
  options.server.hub.most_loaded = 1;
  ServerBench bench(options);
  bench.ask("POST", "/v1/completions", completion(3, false).dump(), {{"x-session-id", "s"}});
  Json other = completion(3, false);
  other["model"] = "two";
  EXPECT_EQ(bench.post("/v1/completions", other).code(), "models_busy");
  bench.ask("DELETE", "/v1/sessions/s");
  EXPECT_EQ(bench.post("/v1/completions", other).status, 200);
}

}  // namespace
}  // namespace genai::serve
