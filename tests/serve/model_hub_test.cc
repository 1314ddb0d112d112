// Models that are loaded when they are asked for: who waits for a load, and who doesn't.
#include "serve/model_hub.h"

#include <gtest/gtest.h>

#include <thread>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Json completion(const std::string& model) {
  return {{"model", model}, {"prompt", "abc"}, {"max_tokens", 2}, {"temperature", 0}};
}

// A server with a model that is there and one whose load takes as long as the test wants.
struct SlowLoad {
  explicit SlowLoad(const HubOptions& hub = {}) : bench(options(hub)) {
    bench.before_load = [this](const std::string& name) {
      while (name == "slow" && loading) std::this_thread::sleep_for(1ms);
      if (name == "slow" && broken) throw nxrt::Error(nxrt::Code::io, "the disk is gone", "/models/slow");
    };
    bench.server->models().load("quick");
  }
  static BenchOptions options(const HubOptions& hub) {
    BenchOptions options;
    options.server.models = {"quick", "slow"};
    options.server.hub = hub;
    return options;
  }
  std::atomic<bool> loading{true}, broken{false};
  ServerBench bench;
};

TEST(SlowModel, LeavesThreadsForEverybodyElse) {
  SlowLoad server;
  std::vector<std::thread> clients;
  std::atomic<int> answered{0}, refused{0};
  for (int i = 0; i < 12; ++i) {
    clients.emplace_back([&] {
      const Reading answer = server.bench.post("/v1/completions", completion("slow"));
      answered += answer.status == 200;
      refused += answer.code() == "model_loading" && answer.headers.at("Retry-After") == "5";
    });
  }
  for (int i = 0; i < 500 && refused < 8; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(refused, 8) << "four may wait";
  EXPECT_EQ(answered, 0);
  EXPECT_EQ(server.bench.post("/v1/completions", completion("quick")).status, 200);
  EXPECT_EQ(server.bench.post("/v1/sessions", {{"id", "s"}}).status, 200);
  EXPECT_EQ(server.bench.get("/ready").status, 200);
  EXPECT_EQ(server.bench.status()["models"][1]["state"], "loading");
  server.loading = false;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 4);
  EXPECT_EQ(server.bench.loads, 2);
}

TEST(SlowModel, IsWaitedForOnlySoLong) {
  SlowLoad server({.load_wait = 50ms});
  const auto began = Clock::now();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(server.bench.post("/v1/completions", completion("slow")).code(), "model_loading");
  }
  EXPECT_LT(Clock::now() - began, 2s);
  server.loading = false;
  for (int i = 0; i < 200 && server.bench.server->models().loaded().size() < 2; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(server.bench.post("/v1/completions", completion("slow")).status, 200);
  EXPECT_EQ(server.bench.loads, 2);
}

TEST(SlowModel, AFailedLoadIsToldToEachWhoWaitsAndTriedAgain) {
  SlowLoad server;
  server.broken = true;
  std::atomic<int> failed{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] { failed += server.bench.post("/v1/completions", completion("slow")).status == 500; });
  }
  std::this_thread::sleep_for(20ms);
  server.loading = false;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 4);
  server.broken = false;
  EXPECT_EQ(server.bench.post("/v1/completions", completion("slow")).status, 200);
}

TEST(SlowModel, StoppingWaitsForItAndKeepsNothing) {
  SlowLoad server({.load_wait = 1ms});
  EXPECT_EQ(server.bench.post("/v1/completions", completion("slow")).code(), "model_loading");
  std::thread release([&] {
    std::this_thread::sleep_for(30ms);
    server.loading = false;
  });
  server.bench.server->stop();
  release.join();
  EXPECT_TRUE(server.bench.server->models().loaded().empty());
  EXPECT_EQ(server.bench.post("/v1/completions", completion("quick")).code(), "stopping");
}

}  // namespace
}  // namespace genai::serve
