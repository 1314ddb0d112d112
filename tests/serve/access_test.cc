#include "serve/access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "serve/server_bench.h"
#include "serve/watchdog.h"

namespace genai::serve {
namespace {

class Access : public testing::Test {
 protected:
  Access() {
    std::ofstream(file_) << "# keys\n\n  first-key \nsecond-key\n";
    options_.server.keys = ApiKeys(file_);
    options_.server.origins = Origins({"https://app.example"});
  }
  ~Access() override { std::filesystem::remove(file_); }
  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("genai-keys-" + std::to_string(::getpid()));
  BenchOptions options_;
};

ServerBench::Headers bearer(const std::string& key) { return {{"authorization", "Bearer " + key}}; }

TEST_F(Access, KeysOpenAllButHealth) {
  ServerBench bench(options_);
  EXPECT_EQ(bench.get("/health").status, 200);
  EXPECT_EQ(bench.get("/ready").status, 200);
  for (const char* path : {"/v1/models", "/v1/status", "/metrics"}) {
    const Reading refused = bench.get(path);
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.body["error"]["type"], "authentication_error");
    EXPECT_EQ(refused.headers.at("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(bench.get(path, bearer("wrong")).status, 401);
    EXPECT_EQ(bench.get(path, bearer("first-key ")).status, 200);
    EXPECT_EQ(bench.get(path, {{"x-api-key", "second-key"}}).status, 200);
  }
}

TEST_F(Access, ASessionBelongsToTheKeyThatMadeIt) {
  ServerBench bench(options_);
  auto mine = bearer("first-key"), yours = bearer("second-key");
  mine["x-session-id"] = yours["x-session-id"] = "s";
  const Json body = {{"prompt", "a"}, {"max_tokens", 2}};
  EXPECT_EQ(bench.post("/v1/completions", body, mine).status, 200);
  EXPECT_EQ(bench.post("/v1/completions", body, yours).status, 404);
  EXPECT_EQ(bench.get("/v1/sessions/s", yours).status, 404);
  EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s", "", yours).status, 404);
  EXPECT_EQ(bench.get("/v1/sessions/s", mine).status, 200);
}

TEST_F(Access, OriginsThatAreAllowed) {
  ServerBench bench(options_);
  const Reading allowed = bench.ask("OPTIONS", "/v1/chat/completions", "", {{"origin", "https://app.example"}});
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(allowed.headers.at("Access-Control-Allow-Origin"), "https://app.example");
  const Reading refused = bench.ask("OPTIONS", "/v1/chat/completions", "", {{"origin", "https://evil.example"}});
  EXPECT_EQ(refused.status, 403);
  EXPECT_FALSE(refused.headers.contains("Access-Control-Allow-Origin"));
}

TEST_F(Access, OptionsWithoutAnOriginNamesTheMethods) {
  ServerBench bench(options_);
  const Reading methods = bench.ask("OPTIONS", "/v1/sessions/s");
  EXPECT_EQ(methods.status, 204);
  EXPECT_EQ(methods.headers.at("Allow"), "DELETE, GET, OPTIONS");
  EXPECT_EQ(bench.ask("OPTIONS", "/nowhere").status, 404);
}

TEST_F(Access, AKeyHasSoManyRequestsAtATime) {
  options_.server.max_key_requests = 1;
  ServerBench bench(options_);
  const auto mine = bearer("first-key"), yours = bearer("second-key");
  const Json body = {{"prompt", "abc"}, {"max_tokens", 2000}, {"temperature", 0}, {"stream", true}};
  const Json small = {{"prompt", "abc"}, {"max_tokens", 2}, {"temperature", 0}};
  Open running = bench.open("POST", "/v1/completions", body.dump(), mine);
  ASSERT_EQ(running.reply.status, 200);
  const int free = bench.get("/v1/status", mine).body["permits_free"];
  const Reading refused = bench.post("/v1/completions", small, mine);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.body["error"]["type"], "rate_limit_error");
  EXPECT_EQ(refused.code(), "too_many_requests");
  EXPECT_EQ(refused.headers.at("Retry-After"), "1");
  EXPECT_EQ(bench.get("/v1/status", mine).body["permits_free"], free);
  EXPECT_EQ(bench.get("/v1/models", mine).status, 200);
  EXPECT_EQ(bench.post("/v1/completions", small, yours).status, 200);
  EXPECT_EQ(ServerBench::finish(std::move(running)).status, 200);
  EXPECT_EQ(bench.post("/v1/completions", {{"prompt", 5}}, mine).status, 400);
}

// As with leases: whoever has read the end can ask again at once.
TEST_F(Access, AKeysNextRequestNeverMeetsItsFinishedOne) {
  options_.server.max_key_requests = 1;
  ServerBench bench(options_);
  for (int i = 0; i < 400; ++i) {
    const Json body = {{"prompt", {"abc", "b"}}, {"max_tokens", 1 + i % 2}, {"temperature", 0}, {"stream", i % 4 < 2}};
    ASSERT_EQ(bench.post("/v1/completions", body, bearer("first-key")).status, 200) << i;
  }
}

TEST_F(Access, AKeyFileWithoutKeysIsRefused) {
  std::ofstream(file_) << "# nothing\n";
  EXPECT_THROW(ApiKeys{file_}, nxrt::Error);
  EXPECT_THROW(ApiKeys{"/nowhere/keys"}, nxrt::Error);
}

TEST(Loopback, IsThisMachine) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "localhost", "::1"}) EXPECT_TRUE(is_loopback(host));
  for (const char* host : {"0.0.0.0", "::", "192.168.1.1", "example.org"}) EXPECT_FALSE(is_loopback(host));
}

TEST(Watchdog, NeedsWorkAndAStandstill) {
  Watchdog watchdog(1000);
  watchdog.observe(0, 5, false);
  watchdog.observe(5000, 5, true);  // work has just come
  EXPECT_FALSE(watchdog.stalled());
  watchdog.observe(5900, 5, true);
  EXPECT_FALSE(watchdog.stalled());
  watchdog.observe(6000, 5, true);
  EXPECT_TRUE(watchdog.stalled());
  watchdog.observe(6100, 6, true);
  EXPECT_FALSE(watchdog.stalled());
  watchdog.observe(9000, 6, false);
  EXPECT_FALSE(watchdog.stalled());
}

}  // namespace
}  // namespace genai::serve
