// The rules of sessions, through the routes, on the fake model.
#include <gmock/gmock.h>

#include <algorithm>
#include <barrier>
#include <filesystem>
#include <thread>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {
using namespace std::chrono_literals;
using Headers = ServerBench::Headers;

Headers on(const std::string& id) { return {{"x-session-id", id}}; }

Json completion(const std::string& prompt, int max_tokens = 4, bool stream = false) {
  return {{"prompt", prompt}, {"max_tokens", max_tokens}, {"temperature", 0}, {"stream", stream}};
}

TEST(SessionTurns, TokensCountAndContinueEachOther) {
  ServerBench bench;
  const Reading first = bench.post("/v1/completions", completion("abc", 2), on("s"));
  ASSERT_EQ(first.status, 200) << first.text;
  EXPECT_EQ(first.body["session_id"], "s");
  EXPECT_EQ(first.body["session_token_count"], 5);
  const std::string text = first.body["choices"][0]["text"];
  EXPECT_EQ(text, expected_text("abc", 2));
  const Reading second = bench.post("/v1/completions", completion("xy", 3), on("s"));
  EXPECT_EQ(second.body["choices"][0]["text"], expected_text("abc" + text + "xy", 3));
  EXPECT_EQ(second.body["session_token_count"], 10);
  EXPECT_EQ(second.body["usage"]["prompt_tokens"], 7);
  EXPECT_EQ(second.body["usage"]["prompt_tokens_details"]["cached_tokens"], 4);  // the last sampled one was never run
  const Json session = bench.get("/v1/sessions/s").body;
  EXPECT_EQ(session["token_count"], 10);
  EXPECT_EQ(session["turns"], 2);
  EXPECT_EQ(session["busy"], false);
}

TEST(SessionTurns, AChatEqualsTheStatelessRequestWithItsHistory) {
  ServerBench bench;
  Json history = Json::array({{{"role", "system"}, {"content", "be brief"}}});
  Json fresh = history;
  for (const std::string text : {"hello", "and then", "why"}) {
    history.push_back(user(text));
    fresh.push_back(user(text));
    const Reading in_session = bench.post("/v1/chat/completions", chat(fresh), on("s"));
    const Reading stateless = bench.post("/v1/chat/completions", chat(history));
    ASSERT_EQ(in_session.status, 200) << in_session.text;
    const Json message = in_session.body["choices"][0]["message"];
    EXPECT_EQ(message["content"], stateless.body["choices"][0]["message"]["content"]);
    EXPECT_EQ(in_session.body["usage"]["prompt_tokens"], stateless.body["usage"]["prompt_tokens"]);
    history.push_back({{"role", "assistant"}, {"content", message["content"]}});
    fresh = Json::array();
  }
  const Reading repeated = [&] {
    history.push_back(user("again"));
    return bench.post("/v1/chat/completions", chat(history), on("s"));
  }();
  EXPECT_EQ(repeated.status, 200) << repeated.text;
  EXPECT_GT(repeated.body["usage"]["prompt_tokens_details"]["cached_tokens"], 60);
}

TEST(SessionTurns, AContradictedHistoryIsRefusedWithItsIndex) {
  ServerBench bench;
  const Reading first = bench.post("/v1/chat/completions", chat({user("hello")}), on("s"));
  Json wrong = Json::array({user("hello"), {{"role", "assistant"}, {"content", "never said"}}, user("more")});
  const Reading refused = bench.post("/v1/chat/completions", chat(wrong), on("s"));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "session_history_mismatch");
  EXPECT_EQ(refused.body["error"]["index"], 1);
  EXPECT_EQ(bench.get("/v1/sessions/s").body["turns"], 1);
}

TEST(SessionTurns, ASecondTurnIsRefusedAndCostsNothing) {
  ServerBench bench;
  Open running = bench.open("POST", "/v1/completions", completion("abc", 400, true).dump(), on("s"));
  ASSERT_EQ(running.reply.status, 200);
  const int free = bench.status()["permits_free"];
  const Reading refused = bench.post("/v1/completions", completion("x"), on("s"));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.body["error"]["type"], "conflict_error");
  EXPECT_EQ(refused.code(), "session_busy");
  EXPECT_NE(refused.text.find("'s'"), std::string::npos);
  EXPECT_FALSE(refused.headers.contains("Retry-After"));
  EXPECT_EQ(bench.status()["permits_free"], free);
  EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 409);
  EXPECT_EQ(bench.post("/v1/completions", completion("x"), on("other")).status, 200);
  EXPECT_EQ(bench.post("/v1/completions", completion("x")).status, 200);
  EXPECT_EQ(ServerBench::finish(std::move(running)).joined(), expected_text("abc", 400));
  EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 204);
  EXPECT_EQ(bench.get("/v1/sessions/s").status, 404);
}

class NextTurn : public testing::TestWithParam<std::tuple<bool, bool>> {};

// Whoever has read the end can start the next turn at once.
TEST_P(NextTurn, NeverConflictsWithTheFinishedOne) {
  const auto [stream, batched] = GetParam();
  ServerBench bench;
  std::atomic<bool> over{false};
  std::thread neighbour([&, crowd = batched] {
    while (crowd && !over) bench.post("/v1/completions", completion("zzz", 50));
  });
  for (int turn = 0; turn < 1000; ++turn) {
    const Reading answer =
        bench.post("/v1/completions", completion("a", 1 + turn % 2, stream), on("s" + std::to_string(turn / 250)));
    ASSERT_EQ(answer.status, 200) << "turn " << turn << ": " << answer.text;
  }
  over = true;
  neighbour.join();
  EXPECT_TRUE(bench.becomes_idle()) << "the finished turn never released its lease";
}
INSTANTIATE_TEST_SUITE_P(, NextTurn, testing::Combine(testing::Bool(), testing::Bool()));

// Shows that becomes_idle() polls and can fail: a lease held across it is seen for the whole budget.
TEST(SessionTurns, AHeldLeaseIsNoticed) {
  ServerBench bench;
  bench.post("/v1/completions", completion("a"), on("s"));
  const HeldSession held = bench.server->sessions().registry().lease(*SessionId::parse("s"), "");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(bench.becomes_idle());
  EXPECT_GE(std::chrono::steady_clock::now() - began, 5s);
}

TEST(SessionTurns, TheConversationIsExactlyTheAdmittedTurns) {
  constexpr int kWriters = 4, kRounds = 100;
  ServerBench bench({.context = 100'000, .blocks = 8000});
  std::barrier together(kWriters);
  std::atomic<int> admitted{0}, refused{0};
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int round = 0; round < kRounds; ++round) {
        together.arrive_and_wait();
        const Reading answer =
            bench.post("/v1/completions", completion(std::string(1, static_cast<char>('A' + w)), 2), on("s"));
        if (answer.status == 200) ++admitted;
        if (answer.status == 409) ++refused;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(admitted + refused, kWriters * kRounds);
  const HeldSession held = bench.server->sessions().registry().lease(*SessionId::parse("s"), "");
  const std::string text = ByteTokenizer().decode(held.session->conversation.tokens, false);
  ASSERT_EQ(text.size(), static_cast<size_t>(admitted) * 3);
  std::string replayed;
  for (size_t at = 0; at < text.size(); at += 3) {
    ASSERT_TRUE(text[at] >= 'A' && text[at] < 'A' + kWriters) << at;
    replayed += text[at];
    replayed += expected_text(replayed, 2);
  }
  EXPECT_EQ(text, replayed);
}

TEST(SessionTurns, AClientThatLeavesFreesEverythingAndChangesNothing) {
  ServerBench bench;
  bench.post("/v1/completions", completion("abc", 2), on("s"));
  const Json before = bench.get("/v1/sessions/s").body;
  for (const bool stream : {false, true}) {
    Open gone = bench.open("POST", "/v1/completions", completion("more", 3000, stream).dump(), on("s"));
    ASSERT_EQ(gone.reply.status, 200);
    gone = {};
    EXPECT_TRUE(bench.becomes_idle()) << "the cancelled turn never released its lease";
  }
  EXPECT_EQ(bench.get("/v1/sessions/s").body["token_count"], before["token_count"]);
  const Reading next = bench.post("/v1/completions", completion("x", 3), on("s"));
  EXPECT_EQ(next.body["choices"][0]["text"], expected_text("abc" + expected_text("abc", 2) + "x", 3));
}

TEST(SessionTurns, AFailedTurnFreesItsLeaseAndLeavesTheLastTurn) {
  ServerBench bench;
  bench.post("/v1/completions", completion("abc", 2), on("s"));
  bench.before_step = [](const Step&) { throw std::runtime_error("broken"); };
  const Reading failed = bench.post("/v1/completions", completion("x", 3), on("s"));
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.code(), "generation_failed");
  const Reading streamed = bench.post("/v1/completions", completion("x", 3, true), on("s"));
  EXPECT_EQ(streamed.events.back()["error"]["code"], "generation_failed");
  bench.before_step = nullptr;
  EXPECT_EQ(bench.get("/v1/sessions/s").body["token_count"], 5);
  EXPECT_EQ(bench.post("/v1/completions", completion("x", 3), on("s")).status, 200);
}

TEST(SessionTurns, AFullQueueRefusesAndKeepsNothing) {
  ServerBench bench({.driver = {.max_queue = 0}, .rows = 1});
  Open running = bench.open("POST", "/v1/completions", completion("abc", 2000, true).dump());
  ASSERT_EQ(running.reply.status, 200);
  const Reading refused = bench.post("/v1/completions", completion("x"), on("s"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.code(), "queue_full");
  EXPECT_EQ(refused.headers.at("Retry-After"), "1");
  EXPECT_EQ(bench.status()["leases_held"], 0);
  running = {};
  EXPECT_TRUE(bench.becomes_idle());
  EXPECT_EQ(bench.post("/v1/completions", completion("x"), on("s")).status, 200);
}

TEST(SessionTurns, ARefusedFirstTurnLeavesNoSession) {
  ServerBench bench({.context = 20});
  const Reading refused = bench.post("/v1/completions", completion(std::string(30, 'a')), on("s"));
  EXPECT_EQ(refused.code(), "context_length_exceeded");
  EXPECT_EQ(bench.get("/v1/sessions/s").status, 404);
}

TEST(SessionTurns, EvictionClosesTheLeastRecentlyUsed) {
  BenchOptions options;
  options.server.sessions.most = 2;
  ServerBench bench(options);
  bench.post("/v1/completions", completion("a"), on("one"));
  bench.post("/v1/completions", completion("a"), on("two"));
  Open busy = bench.open("POST", "/v1/completions", completion("abc", 2000, true).dump(), on("one"));
  EXPECT_EQ(bench.post("/v1/completions", completion("a"), on("three")).status, 200);
  EXPECT_EQ(bench.get("/v1/sessions/two").status, 404);
  Open also = bench.open("POST", "/v1/completions", completion("abc", 2000, true).dump(), on("three"));
  const Reading refused = bench.post("/v1/completions", completion("a"), on("four"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.code(), "too_many_sessions");
  EXPECT_EQ(bench.status()["sessions"]["live"], 2);
}

TEST(SessionTurns, AForkGoesItsOwnWay) {
  ServerBench bench;
  bench.post("/v1/completions", completion("abc", 20), on("s"));
  const std::string text = "abc" + expected_text("abc", 20);
  const Reading fork = bench.post("/v1/sessions/s/fork", {{"position", 10}});
  ASSERT_EQ(fork.status, 200) << fork.text;
  EXPECT_EQ(fork.body["token_count"], 10);
  const std::string id = fork.body["id"];
  EXPECT_TRUE(id.starts_with("sess-"));
  const Reading branch = bench.post("/v1/completions", completion("Q", 5), on(id));
  EXPECT_EQ(branch.body["choices"][0]["text"], expected_text(text.substr(0, 10) + "Q", 5));
  const Reading trunk = bench.post("/v1/completions", completion("Q", 5), on("s"));
  EXPECT_EQ(trunk.body["choices"][0]["text"], expected_text(text + "Q", 5));
  EXPECT_EQ(bench.post("/v1/sessions/s/fork", {{"position", 9999}}).param(), "position");
  EXPECT_EQ(bench.post("/v1/sessions/none/fork", {{"position", 1}}).status, 404);
}

TEST(SessionTurns, ARewindIsAsIfItNeverWentOn) {
  ServerBench bench;
  for (const int64_t position : {0, 1, 16, 20, 23}) {
    SCOPED_TRACE(position);
    bench.post("/v1/completions", completion("abc", 20), on("s"));
    const std::string text = ("abc" + expected_text("abc", 20)).substr(0, static_cast<size_t>(position));
    EXPECT_EQ(bench.post("/v1/sessions/s/rewind", {{"position", position}}).body["token_count"], position);
    const Reading next = bench.post("/v1/completions", completion("Q", 5), on("s"));
    EXPECT_EQ(next.body["choices"][0]["text"], expected_text(text + "Q", 5));
    EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 204);
  }
}

TEST(SessionTurns, AChatRewoundToATurnForgetsItsLaterMessages) {
  ServerBench bench;
  const Reading first = bench.post("/v1/chat/completions", chat({user("hello")}), on("s"));
  const int64_t end_of_first = bench.get("/v1/sessions/s").body["token_count"];
  bench.post("/v1/chat/completions", chat({user("wrong turn")}), on("s"));
  bench.post("/v1/sessions/s/rewind", {{"position", end_of_first}});
  const Reading again = bench.post("/v1/chat/completions", chat({user("right turn")}), on("s"));
  const Json history = Json::array({user("hello"), first.body["choices"][0]["message"], user("right turn")});
  const Reading stateless = bench.post("/v1/chat/completions", chat(history));
  EXPECT_EQ(again.body["choices"][0]["message"]["content"], stateless.body["choices"][0]["message"]["content"]);
}

TEST(SessionTurns, ASessionKeepsItsModelAndItsKind) {
  BenchOptions options;
  options.server.models = {"one", "two"};
  ServerBench bench(options);
  EXPECT_EQ(bench.post("/v1/completions", completion("a"), on("s")).body["model"], "one");
  Json other = completion("a");
  other["model"] = "two";
  EXPECT_EQ(bench.post("/v1/completions", other, on("s")).param(), "model");
  EXPECT_EQ(bench.post("/v1/completions", other, on("t")).status, 200);  // the same number within another model
  EXPECT_EQ(bench.post("/v1/completions", completion("a"), on("t")).body["model"], "two");
  EXPECT_EQ(bench.post("/v1/chat/completions", chat({user("a")}), on("s")).param(), "session_id");
  EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/t").status, 204);
}

// Durable sessions. Each test has a folder of its own.
class DurableSessions : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("genai-sessions-" + std::to_string(::getpid()) + "-" +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  BenchOptions options() const {
    BenchOptions options;
    options.server.sessions.directory = folder_;
    return options;
  }
  std::filesystem::path file(const std::string& suffix) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == suffix) return entry.path();
    }
    return {};
  }
  std::filesystem::path folder_;
};

TEST_F(DurableSessions, SurviveAStopWithTheirCache) {
  std::string text;
  {
    ServerBench bench(options());
    text = bench.post("/v1/completions", completion(std::string(60, 'a'), 20), on("s")).body["choices"][0]["text"];
  }
  ServerBench bench(options());
  const Json session = bench.get("/v1/sessions/s").body;
  EXPECT_EQ(session["token_count"], 80);
  EXPECT_EQ(session["turns"], 1);
  const Reading next = bench.post("/v1/completions", completion("x", 5), on("s"));
  EXPECT_EQ(next.body["choices"][0]["text"], expected_text(std::string(60, 'a') + text + "x", 5));
  EXPECT_GE(next.body["usage"]["prompt_tokens_details"]["cached_tokens"], 79);
}

// What a killed process leaves is the folder as it was at that moment: here a copy of it, with a torn last record.
TEST_F(DurableSessions, SurviveAKillUpToTheLastFinishedTurn) {
  const std::filesystem::path copy = folder_.string() + "-copy";
  std::filesystem::remove_all(copy);
  std::string text;
  {
    ServerBench bench(options());
    text = bench.post("/v1/chat/completions", chat({user("hello")}), on("s")).body["choices"][0]["message"]["content"];
    Open running = bench.open("POST", "/v1/chat/completions", chat({user("more")}, 3000).dump(), on("s"));
    std::filesystem::copy(folder_, copy, std::filesystem::copy_options::recursive);
  }
  std::filesystem::remove_all(folder_);
  std::filesystem::rename(copy, folder_);
  {
    std::FILE* torn = std::fopen(file(".journal").c_str(), "ab");
    std::fwrite("\x50\0\0\0halfway", 1, 11, torn);
    std::fclose(torn);
  }
  for (int round = 0; round < 2; ++round) {  // the second start reads what the first one wrote after the torn record
    ServerBench bench(options());
    EXPECT_EQ(bench.get("/v1/sessions/s").body["turns"], 1 + round);
    Json history = Json::array({user("hello"), {{"role", "assistant"}, {"content", text}}, user("why")});
    const Reading next =
        round == 0 ? bench.post("/v1/chat/completions", chat(history), on("s")) : Reading{.status = 200};
    EXPECT_EQ(next.status, 200) << next.text;
  }
}

TEST_F(DurableSessions, RestoreGoesBackToWhatWasSaved) {
  ServerBench bench(options());
  bench.post("/v1/completions", completion(std::string(40, 'a'), 8), on("s"));
  const std::string text = std::string(40, 'a') + expected_text(std::string(40, 'a'), 8);
  ASSERT_EQ(bench.post("/v1/sessions/s/save", Json::object()).status, 200);
  bench.post("/v1/completions", completion("gone", 30), on("s"));
  const Reading restored = bench.post("/v1/sessions/restore", {{"id", "s"}});
  ASSERT_EQ(restored.status, 200) << restored.text;
  EXPECT_EQ(restored.body["token_count"], 48);
  const Reading next = bench.post("/v1/completions", completion("x", 5), on("s"));
  EXPECT_EQ(next.body["choices"][0]["text"], expected_text(text + "x", 5));
  EXPECT_EQ(next.body["usage"]["prompt_tokens_details"]["cached_tokens"], 47);
}

TEST_F(DurableSessions, SavingNothingIsHarmless) {
  ServerBench bench(options());
  EXPECT_EQ(bench.post("/v1/sessions", {{"id", "s"}}).status, 200);
  EXPECT_EQ(bench.post("/v1/sessions/s/save", Json::object()).body["token_count"], 0);
  EXPECT_EQ(bench.post("/v1/sessions/restore", {{"id", "s"}}).body["token_count"], 0);
  EXPECT_EQ(bench.post("/v1/completions", completion("x", 5), on("s")).status, 200);
}

TEST_F(DurableSessions, ADamagedFileChangesNothing) {
  ServerBench bench(options());
  bench.post("/v1/completions", completion(std::string(40, 'a'), 8), on("s"));
  bench.post("/v1/sessions/s/save", Json::object());
  bench.post("/v1/completions", completion("b", 8), on("s"));
  const std::filesystem::path path = file(".saved");
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::FILE* in = std::fopen(path.c_str(), "rb");
  ASSERT_EQ(std::fread(bytes.data(), 1, bytes.size(), in), bytes.size());
  std::fclose(in);
  const auto write = [&](const std::string& other) {
    std::FILE* out = std::fopen(path.c_str(), "wb");
    std::fwrite(other.data(), 1, other.size(), out);
    std::fclose(out);
  };
  std::vector<std::string> damaged = {"", bytes.substr(0, bytes.size() / 2), "another kind of file"};
  for (const size_t at : {size_t{9}, bytes.size() / 2, bytes.size() - 1}) {
    damaged.push_back(bytes);
    damaged.back()[at] ^= 1;
  }
  for (const std::string& other : damaged) {
    write(other);
    EXPECT_GE(bench.post("/v1/sessions/restore", {{"id", "s"}}).status, 400);
    EXPECT_EQ(bench.get("/v1/sessions/s").body["token_count"], 57);
  }
  EXPECT_EQ(bench.post("/v1/sessions/restore", {{"id", "never"}}).code(), "session_file_not_found");
  EXPECT_EQ(bench.get("/v1/sessions/never").status, 404);
  write(bytes);
  EXPECT_EQ(bench.post("/v1/sessions/restore", {{"id", "s"}}).body["token_count"], 48);
}

TEST_F(DurableSessions, DeletingRemovesTheFiles) {
  {
    ServerBench bench(options());
    bench.post("/v1/completions", completion("a"), on("s"));
    bench.post("/v1/sessions/s/save", Json::object());
    EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 204);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  ServerBench bench(options());
  EXPECT_EQ(bench.get("/v1/sessions/s").status, 404);
}

TEST_F(DurableSessions, AnEvictedSessionComesBack) {
  BenchOptions one = options();
  one.server.sessions.most = 1;
  ServerBench bench(one);
  bench.post("/v1/completions", completion("abc", 4), on("s"));
  bench.post("/v1/completions", completion("abc", 4), on("t"));
  const Reading next = bench.post("/v1/completions", completion("x", 4), on("s"));
  EXPECT_EQ(next.body["choices"][0]["text"], expected_text("abc" + expected_text("abc", 4) + "x", 4));
}

TEST(SessionTurns, WithoutAFolderSavingIsRefused) {
  ServerBench bench;
  bench.post("/v1/completions", completion("a"), on("s"));
  EXPECT_EQ(bench.post("/v1/sessions/s/save", Json::object()).code(), "session_dir_missing");
}

}  // namespace
}  // namespace genai::serve
