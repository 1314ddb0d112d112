// Engines that stand still or have ended, failing session routes, and what the log says of it all.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

ServerBench::Headers on(const std::string& id) { return {{"x-session-id", id}}; }

Json completion(const std::string& prompt, int max_tokens, bool stream = false) {
  return {{"prompt", prompt}, {"max_tokens", max_tokens}, {"temperature", 0}, {"stream", stream}};
}

// A clock that ends the engine's thread once it is told to.
struct BreakingClock {
  std::atomic<bool> broken{false};
  std::thread::id test = std::this_thread::get_id();
  double operator()() const {
    if (broken && std::this_thread::get_id() != test) throw std::runtime_error("the clock is broken");
    return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count();
  }
};

TEST(DeadEngine, IsNotReadyAndRefusesWithoutHolding) {
  BreakingClock clock;
  BenchOptions options;
  options.engine.clock_ms = [&] { return clock(); };
  options.server.hub.first_pause = 30s;
  ServerBench bench(options);
  EXPECT_EQ(bench.post("/v1/completions", completion("abc", 2), on("s")).status, 200);
  Open running = bench.open("POST", "/v1/completions", completion("abc", 3000, true).dump(), on("s"));
  clock.broken = true;
  const Reading cut = ServerBench::finish(std::move(running));
  EXPECT_EQ(cut.events.back()["error"]["type"], "server_error");
  EXPECT_TRUE(bench.becomes_idle()) << "the dead engine's turn never released its lease";
  const Reading ready = bench.get("/ready");
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ready.code(), "engine_failed");
  EXPECT_EQ(bench.get("/health").status, 200);
  EXPECT_EQ(bench.status()["models"][0]["state"], "failed");
  for (const auto& [path, body] : {std::pair<std::string, Json>{"/v1/completions", completion("a", 2)},
                                   {"/v1/chat/completions", chat({user("a")})},
                                   {"/v1/sessions", Json::object()},
                                   {"/v1/sessions/s/fork", Json::object()},
                                   {"/v1/sessions/s/rewind", {{"position", 0}}}}) {
    const Reading refused = bench.post(path, body);
    EXPECT_EQ(refused.status, 503) << path;
    EXPECT_EQ(refused.body["error"]["type"], "unavailable_error");
    EXPECT_EQ(refused.code(), "engine_failed");
    EXPECT_GE(std::stoi(refused.headers.at("Retry-After")), 1) << path;
  }
  EXPECT_EQ(bench.get("/v1/sessions/s").body["turns"], 1);
  EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 204);
}

Json metrics_line(ServerBench& bench, const std::string& name) {
  const std::string text = bench.get("/metrics").text;
  const size_t at = text.find("\n" + name + " ");
  return at == std::string::npos
             ? Json()
             : Json::parse(text.substr(at + name.size() + 2, text.find('\n', at + 1) - at - name.size() - 2));
}

// Whether `is` becomes true within some seconds.
bool becomes(const std::function<bool()>& is) {
  for (int i = 0; i < 400 && !is(); ++i) std::this_thread::sleep_for(10ms);
  return is();
}

class ReplacedEngine : public testing::TestWithParam<bool> {};

// With durable sessions and with those in memory.
TEST_P(ReplacedEngine, GoesOnWithItsSessionsAtTheirLastFinishedTurn) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("genai-replaced-" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  BreakingClock clock;
  BenchOptions options;
  options.engine.clock_ms = [&] { return clock(); };
  options.server.hub.first_pause = 200ms;
  if (GetParam()) options.server.sessions.directory = folder;
  {
    ServerBench bench(options);
    std::string said =
        "abc" +
        bench.post("/v1/completions", completion("abc", 4), on("s")).body["choices"][0]["text"].get<std::string>();
    Open running = bench.open("POST", "/v1/completions", completion("lost", 3000, true).dump(), on("s"));
    clock.broken = true;
    EXPECT_EQ(ServerBench::finish(std::move(running)).events.back()["error"]["type"], "server_error");
    // Inside a turn the clock costs that turn alone; between two of them it ends the engine.
    if (bench.get("/ready").status == 200) bench.post("/v1/completions", completion("abc", 1));
    ASSERT_TRUE(becomes([&] { return bench.get("/ready").code() == "engine_failed"; }));
    bench.server->tick();
    clock.broken = false;
    ASSERT_TRUE(becomes([&] {  // by itself: who asks /ready sends nothing before
      bench.server->tick();
      return bench.get("/ready").status == 200;
    }));
    Reading next = bench.post("/v1/completions", completion("x", 4), on("s"));
    ASSERT_EQ(next.status, 200) << next.text;
    EXPECT_EQ(next.body["choices"][0]["text"].get<std::string>(), expected_text(said + "x", 4)) << next.text;
    EXPECT_EQ(bench.get("/v1/sessions/s").body["turns"], 2);
    EXPECT_EQ(bench.loads, 2);
    EXPECT_EQ(metrics_line(bench, "onnx_genai_engine_reloads_total{model=\"fake\"}"), 1);
    EXPECT_TRUE(bench.becomes_idle()) << "the dead engine holds a lease";
    EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 204);
  }
  std::filesystem::remove_all(folder);
}
INSTANTIATE_TEST_SUITE_P(, ReplacedEngine, testing::Bool());

TEST(DeadEngine, ARequestReplacesIt) {
  BreakingClock clock;
  BenchOptions options;
  options.engine.clock_ms = [&] { return clock(); };
  options.server.hub.first_pause = 1ms;
  ServerBench bench(options);
  clock.broken = true;
  EXPECT_EQ(bench.post("/v1/completions", completion("abc", 2)).status, 500);
  clock.broken = false;
  EXPECT_TRUE(becomes([&] { return bench.post("/v1/completions", completion("abc", 2)).status == 200; }));
  EXPECT_EQ(bench.loads, 2);
}

TEST(DeadEngine, OneThatKeepsDyingIsLeftAloneLongerEachTime) {
  BreakingClock clock;
  BenchOptions options;
  options.engine.clock_ms = [&] { return clock(); };
  options.server.hub.first_pause = 40ms;
  ServerBench bench(options);
  clock.broken = true;
  const auto began = Clock::now();
  int refused = 0;
  while (Clock::now() - began < 800ms) {
    bench.server->tick();
    const Reading answer = bench.post("/v1/completions", completion("abc", 2));
    EXPECT_GE(answer.status, 500);
    refused += answer.status == 503 && answer.headers.contains("Retry-After");
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_GE(bench.loads, 3);
  EXPECT_LE(bench.loads, 6) << "40, 80, 160, 320 ms between them, and the first";
  EXPECT_GE(refused, 10);
}

TEST(DeadEngine, EndsEveryoneWhoWaits) {
  BreakingClock clock;
  BenchOptions options;
  options.rows = 1;
  options.engine.clock_ms = [&] { return clock(); };
  ServerBench bench(options);
  std::vector<Open> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(bench.open("POST", "/v1/completions", completion("abc", 3000).dump()));
  clock.broken = true;
  for (Open& one : waiting) EXPECT_EQ(ServerBench::finish(std::move(one)).status, 500);
  EXPECT_TRUE(bench.becomes_idle());
}

// No thread of the server may wait for an engine that stands still, not even to close a session.
TEST(StandingEngine, SessionsAreRefusedAndClosedLater) {
  std::atomic<bool> parked{false};
  BenchOptions options;
  options.driver.stall_ms = 100;
  options.server.sessions.ttl_s = 1;
  ServerBench bench(options);
  bench.before_step = [&](const Step&) {
    while (parked) std::this_thread::sleep_for(1ms);
  };
  for (const char* id : {"s", "t"}) bench.post("/v1/completions", completion("abc", 2), on(id));
  parked = true;
  Open stuck = bench.open("POST", "/v1/completions", completion("a", 2).dump());
  for (int i = 0; i < 6; ++i) {
    bench.server->tick();
    std::this_thread::sleep_for(50ms);
  }
  const auto began = Clock::now();
  for (const char* route : {"fork", "rewind"}) {
    EXPECT_EQ(bench.post(std::string("/v1/sessions/s/") + route, {{"position", 1}}).code(), "engine_stalled");
  }
  EXPECT_EQ(bench.post("/v1/sessions", Json::object()).code(), "engine_stalled");
  EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 204);
  EXPECT_EQ(bench.get("/v1/sessions/s").status, 404);
  EXPECT_LT(Clock::now() - began, 500ms);
  std::this_thread::sleep_for(2100ms - (Clock::now() - began));
  const auto later = Clock::now();
  bench.server->look_after();  // the other one is idle for longer than it may be
  EXPECT_EQ(bench.status()["sessions"]["live"], 0);
  EXPECT_LT(Clock::now() - later, 500ms);
  parked = false;
  EXPECT_EQ(ServerBench::finish(std::move(stuck)).status, 200);
  bench.server->tick();
  bench.server->look_after();
  EXPECT_TRUE(bench.becomes_idle()) << "a session was never closed";
}

// Before the watchdog has noticed: who would wait for the step to end is refused in time and has changed nothing.
TEST(StandingEngine, NobodyWaitsForItForLong) {
  std::atomic<bool> parked{false};
  BenchOptions options;
  options.engine.call_wait_ms = 1200;
  options.driver.most_waiting = 2;
  ServerBench bench(options);
  bench.before_step = [&](const Step&) {
    while (parked) std::this_thread::sleep_for(1ms);
  };
  bench.post("/v1/completions", completion("abc", 2), on("s"));
  parked = true;
  Open stuck = bench.open("POST", "/v1/completions", completion("a", 2).dump());
  std::this_thread::sleep_for(50ms);
  std::atomic<int> refused{0}, soon{0};
  std::vector<std::thread> clients;
  const auto began = Clock::now();
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back([&] {
      const Reading answer = bench.post("/v1/sessions", Json::object());
      refused += answer.status == 503 && answer.code() == "engine_busy" && answer.headers.contains("Retry-After");
      soon += Clock::now() - began < 1000ms;
    });
  }
  std::this_thread::sleep_for(20ms);
  const auto look = Clock::now();
  EXPECT_EQ(bench.status()["models"][0]["state"], "busy");
  EXPECT_EQ(bench.get("/metrics").status, 200);
  EXPECT_LT(Clock::now() - look, 200ms);
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(refused, 6);
  EXPECT_EQ(soon, 4);
  EXPECT_LT(Clock::now() - began, 3s);
  EXPECT_EQ(bench.post("/v1/sessions/s/rewind", {{"position", 1}}).code(), "engine_busy");
  EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 204);
  parked = false;
  EXPECT_EQ(ServerBench::finish(std::move(stuck)).status, 200);
  EXPECT_EQ(bench.post("/v1/sessions", Json::object()).status, 200);
  EXPECT_TRUE(bench.becomes_idle());
  EXPECT_EQ(bench.status()["sessions"]["live"], 1) << "a refused session lives";
}

TEST(StandingEngine, TheFiguresSayHowOldTheyAre) {
  std::atomic<bool> parked{false};
  ServerBench bench;
  bench.before_step = [&](const Step&) {
    while (parked) std::this_thread::sleep_for(1ms);
  };
  parked = true;
  Open stuck = bench.open("POST", "/v1/completions", completion("a", 2).dump());
  bench.server->tick();
  std::this_thread::sleep_for(100ms);
  EXPECT_GE(bench.status()["models"][0]["figures_age_ms"], 100);
  parked = false;
  EXPECT_EQ(ServerBench::finish(std::move(stuck)).status, 200);
  bench.server->tick();
  EXPECT_EQ(bench.status()["models"][0]["figures_age_ms"], 0);
}

TEST(StoppingServer, RefusesWithoutHolding) {
  ServerBench bench;
  bench.post("/v1/completions", completion("abc", 2), on("s"));
  bench.server->begin_stop();
  const Reading refused = bench.post("/v1/completions", completion("abc", 2), on("s"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "stopping");
  EXPECT_EQ(bench.get("/ready").status, 503);
  EXPECT_TRUE(bench.becomes_idle());
}

// What is wrong with a file of this machine isn't the client's fault, and its path isn't the client's business.
TEST(ModelHub, AModelThatCantBeLoadedIsTheServersFault) {
  std::string log;
  Server server({.models = {"broken"}, .log = [&](const std::string& line) { log += line; }},
                [](const std::string&) -> std::shared_ptr<ServedModel> {
                  throw nxrt::Error(nxrt::Code::not_found, "the file isn't there", "/srv/models/broken/model.onnx");
                });
  for (int attempt = 0; attempt < 2; ++attempt) {
    HttpRequest http{.method = "POST", .path = "/v1/completions", .body = R"({"prompt":"a"})"};
    const Reply reply = dispatch(server, http);
    EXPECT_EQ(reply.status, 500);
    EXPECT_EQ(reply.body.find("/srv"), std::string::npos) << reply.body;
  }
  EXPECT_NE(log.find("/srv/models/broken/model.onnx"), std::string::npos);
  server.stop();
}

TEST(SessionRoutes, AForkThatFailsLeavesNoSession) {
  ServerBench bench;
  bench.post("/v1/completions", completion("abc", 4), on("s"));
  {
    const HeldSession held = bench.server->sessions().registry().lease(*SessionId::parse("s"), "");
    held.session->conversation.tokens.resize(100, TokenId(1));  // more than the engine has
  }
  EXPECT_EQ(bench.post("/v1/sessions/s/fork", {{"position", 50}}).status, 400);
  EXPECT_EQ(bench.status()["sessions"]["live"], 1);
  EXPECT_EQ(bench.status()["leases_held"], 0);
}

TEST(SessionRoutes, ARefusedFirstTurnMakesNoRoomForItself) {
  BenchOptions options;
  options.rows = 1;
  options.driver.max_queue = 0;
  ServerBench bench(options);
  const Open running = bench.open("POST", "/v1/completions", completion("abc", 2000).dump());
  EXPECT_EQ(bench.post("/v1/completions", completion("x", 4), on("s")).code(), "queue_full");
  EXPECT_EQ(bench.get("/v1/sessions/s").status, 404);
  EXPECT_EQ(bench.status()["sessions"]["live"], 0);
}

TEST(Log, SaysWhyAndNeverWhoOrWhat) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("genai-log-" + std::to_string(::getpid()));
  std::mutex mutex;
  std::string log;
  {
    BenchOptions options;
    options.server.sessions.directory = folder;
    options.server.log = [&](const std::string& line) {
      const std::lock_guard lock(mutex);
      log += line + "\n";
    };
    ServerBench bench(options);
    bench.post("/v1/chat/completions", chat({user("private words")}), on("private-name"));
    bench.before_step = [](const Step&) { throw std::runtime_error("the step broke"); };
    EXPECT_EQ(bench.post("/v1/chat/completions", chat({user("private words")}), on("private-name")).status, 500);
    bench.before_step = nullptr;
    std::filesystem::remove_all(folder);
    EXPECT_EQ(bench.post("/v1/sessions/private-name/save", Json::object()).status, 500);
    bench.post("/v1/chat/completions", chat({user("private words")}), on("private-name"));
  }
  for (const char* told : {"the step broke", "/v1/sessions/…", "in memory alone"}) {
    EXPECT_NE(log.find(told), std::string::npos) << told << "\n" << log;
  }
  EXPECT_EQ(log.find("private"), std::string::npos) << log;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace genai::serve
