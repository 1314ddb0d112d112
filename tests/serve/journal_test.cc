// The journals of durable sessions: what a turn adds to one, which versions are read, and when it is on the disk.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {
namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kFileOfS = "043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89.journal";  // SHA-256

ServerBench::Headers on(const std::string& id) { return {{"x-session-id", id}}; }

Json completion(const std::string& prompt, int max_tokens, bool stream = false) {
  return {{"prompt", prompt}, {"max_tokens", max_tokens}, {"temperature", 0}, {"stream", stream}};
}

class Journals : public testing::Test {
 protected:
  Journals()
      : folder_(fs::temp_directory_path() / ("genai-journal-" + std::to_string(::getpid()) + "-" +
                                             testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Journals() override { fs::remove_all(folder_); }

  BenchOptions options() const {
    BenchOptions options;
    options.server.sessions.directory = folder_;
    return options;
  }
  fs::path journal() const { return folder_ / kFileOfS; }
  std::string bytes() const {
    std::ifstream in(journal(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const fs::path folder_;
};

TEST_F(Journals, ATurnAddsTheSameHoweverLongTheConversationIs) {
  ServerBench bench(options());
  std::vector<uintmax_t> sizes;
  for (int turn = 0; turn < 60; ++turn) {
    ASSERT_EQ(bench.post("/v1/completions", completion("ab", 2), on("s")).status, 200);
    sizes.push_back(fs::file_size(journal()));
  }
  const uintmax_t early = sizes[5] - sizes[4], late = sizes[59] - sizes[58];
  EXPECT_LE(late, early + 20) << "bytes of the sixth turn: " << early;  // numbers have more digits
}

TEST_F(Journals, TheFirstVersionIsReadAndContinued) {
  fs::copy(NXRT_SOURCE_DIR "/tests/golden/sessions/version1.journal", journal());
  ServerBench bench(options());
  const Reading session = bench.get("/v1/sessions/s");
  ASSERT_EQ(session.status, 200) << session.text;
  EXPECT_EQ(session.body["token_count"], 82);
  EXPECT_EQ(session.body["turns"], 3);
  Json history = Json::array();
  for (const auto& [question, answer] : {std::pair("hello", "woxe"), {"more", "suau"}, {"right", "jers"}}) {
    history.push_back(user(question));
    history.push_back({{"role", "assistant"}, {"content", answer}});
  }
  history.push_back(user("on"));
  const Reading next = bench.post("/v1/chat/completions", chat({user("on")}), on("s"));
  const Reading stateless = bench.post("/v1/chat/completions", chat(history));
  EXPECT_EQ(next.body["choices"][0]["message"], stateless.body["choices"][0]["message"]) << next.text;
  EXPECT_TRUE(bytes().starts_with("GENAIJ02"));
}

TEST_F(Journals, AnUnknownVersionIsRefusedByName) {
  std::ofstream(journal(), std::ios::binary) << "GENAIJ99";
  ServerBench bench(options());
  EXPECT_EQ(bench.post("/v1/completions", completion("a", 2), on("s")).code(), "session_file_damaged");
}

// Against the plainest model: whole copies of the conversation.
TEST(JournalFile, ReadsBackAnySequenceOfTurnsAndRewinds) {
  rc::check([](const std::vector<std::pair<uint8_t, uint8_t>>& steps) {
    Conversation is;
    const Session session(*SessionId::parse("s"), "owner", {.model = "m"}, 1);
    std::string bytes = journal_head(session, "print");
    for (const auto& [keep, added] : steps) {
      Change change;
      if (added % 4 == 0 && !is.tokens.empty()) {
        is.rewind(keep % std::ssize(is.tokens));
        change = {.keep_tokens = std::ssize(is.tokens),
                  .keep_messages = std::ssize(is.messages),
                  .keep_turns = std::ssize(is.turns)};
      } else {
        change = {.keep_tokens = std::min<int64_t>(keep, std::ssize(is.tokens)),
                  .keep_messages = std::ssize(is.messages),
                  .keep_turns = std::ssize(is.turns),
                  .tokens = std::vector<TokenId>(added, TokenId(added)),
                  .messages = Json::array({user("question"), user("answer")})};
        is.tokens.resize(static_cast<size_t>(change.keep_tokens));
        is.tokens.insert(is.tokens.end(), change.tokens.begin(), change.tokens.end());
        is.messages.insert(is.messages.end(), change.messages.begin(), change.messages.end());
        is.turns.push_back({std::ssize(is.tokens), std::ssize(is.messages)});
        change.turns = {is.turns.back()};
      }
      bytes += journal_change(change);
    }
    const Conversation read = read_journal(bytes).stored.conversation;
    RC_ASSERT(read.tokens == is.tokens);
    RC_ASSERT(read.messages == is.messages);
    RC_ASSERT(std::ranges::equal(read.turns, is.turns, [](const TurnEnd& a, const TurnEnd& b) {
      return a.tokens == b.tokens && a.messages == b.messages;
    }));
  });
}

TEST(JournalFile, AChangeThatContinuesWhatIsNotThereIsCorrupt) {
  const Session session(*SessionId::parse("s"), "", {.model = "m"}, 1);
  for (const Change& change : {Change{.keep_tokens = 1}, Change{.keep_messages = 1}, Change{.keep_turns = 1}}) {
    EXPECT_THROW(read_journal(journal_head(session, "print") + journal_change(change)), Error);
  }
}

TEST_F(Journals, ARewindSurvives) {
  {
    ServerBench bench(options());
    for (const char* text : {"hello", "more", "wrong"}) {
      bench.post("/v1/chat/completions", chat({user(text)}, 4), on("s"));
    }
    const uintmax_t before = fs::file_size(journal());
    EXPECT_EQ(bench.post("/v1/sessions/s/rewind", {{"position", 54}}).status, 200);
    EXPECT_LT(fs::file_size(journal()), before + 150);
    fs::copy(folder_, folder_.string() + "-killed", fs::copy_options::recursive);
  }
  fs::remove_all(folder_);
  fs::rename(folder_.string() + "-killed", folder_);
  ServerBench bench(options());
  EXPECT_EQ(bench.get("/v1/sessions/s").body["token_count"], 54);
  EXPECT_EQ(bench.get("/v1/sessions/s").body["turns"], 2);
}

// A disk that takes as long as the test wants.
struct SlowDisk {
  std::atomic<bool> stuck{false}, broken{false};
  std::atomic<int> files{0}, folders{0};
  ForceToDisk force() {
    return [this](int descriptor) {
      struct stat about{};
      ::fstat(descriptor, &about);
      while (stuck) std::this_thread::sleep_for(1ms);
      ++(S_ISDIR(about.st_mode) ? folders : files);
      return !broken.load();
    };
  }
};

TEST_F(Journals, ATurnsEndIsSeenOnceItIsOnTheDiskAndNobodyElseWaits) {
  SlowDisk disk;
  BenchOptions slow = options();
  slow.server.sessions.force = disk.force();
  ServerBench bench(slow);
  bench.post("/v1/completions", completion("a", 2), on("s"));
  for (const bool stream : {false, true}) {
    disk.stuck = true;
    Open waiting = bench.open("POST", "/v1/completions", completion("b", 3, stream).dump(), on("s"));
    const std::string neighbour = bench.post("/v1/completions", completion("abc", 60)).body["choices"][0]["text"];
    EXPECT_EQ(neighbour, expected_text("abc", 60));
    ASSERT_TRUE(bench.becomes_idle()) << "the disk holds the engine, a lease or a permit";
    std::string seen;
    for (int look = 0; look < 20; ++look, std::this_thread::sleep_for(1ms)) {
      if (stream) seen += waiting.reply.events->poll().value_or("");
      const bool answered = !stream && waiting.reply.pending->poll();
      EXPECT_FALSE(answered) << "the end was seen before it was on the disk";
    }
    EXPECT_EQ(seen.find("[DONE]"), std::string::npos) << seen;
    EXPECT_EQ(seen.find("\"length\""), std::string::npos) << seen;
    disk.stuck = false;
    EXPECT_EQ(ServerBench::finish(std::move(waiting)).status, 200);
  }
  EXPECT_EQ(bench.get("/v1/sessions/s").body["turns"], 3);
}

TEST_F(Journals, NewFilesAndDeletionsReachTheFolder) {
  SlowDisk disk;
  BenchOptions counted = options();
  counted.server.sessions.force = disk.force();
  ServerBench bench(counted);
  bench.post("/v1/sessions", {{"id", "s"}});
  EXPECT_EQ(disk.files, 1);
  EXPECT_EQ(disk.folders, 1);
  bench.post("/v1/completions", completion("a", 2), on("s"));
  EXPECT_EQ(disk.files, 2);
  EXPECT_EQ(disk.folders, 1);
  EXPECT_EQ(bench.post("/v1/sessions/s/rewind", {{"position", 1}}).status, 200);
  EXPECT_EQ(disk.files, 3);
  EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 204);
  EXPECT_EQ(disk.folders, 2);
  EXPECT_NE(bench.get("/metrics").text.find("journal_sync_seconds_count 2\n"), std::string::npos);
}

TEST_F(Journals, ADiskThatFailsIsToldAndTheTurnIsWrittenLater) {
  SlowDisk disk;
  BenchOptions failing = options();
  failing.server.sessions.force = disk.force();
  ServerBench bench(failing);
  bench.post("/v1/completions", completion("a", 2), on("s"));
  disk.broken = true;
  EXPECT_EQ(bench.post("/v1/completions", completion("b", 2), on("s")).status, 200);
  EXPECT_NE(bench.get("/metrics").text.find("journal_failures_total 1\n"), std::string::npos);
  disk.broken = false;
  const int files = disk.files, folders = disk.folders;
  bench.server->look_after();
  EXPECT_EQ(disk.files, files + 1);
  EXPECT_EQ(disk.folders, folders + 1);
}

TEST_F(Journals, WithoutSyncNothingWaitsForTheDisk) {
  {
    BenchOptions unsynced = options();
    unsynced.server.sessions.force = nullptr;
    ServerBench bench(unsynced);
    EXPECT_EQ(bench.post("/v1/completions", completion("a", 2), on("s")).status, 200);
    EXPECT_EQ(bench.post("/v1/sessions/s/rewind", {{"position", 1}}).status, 200);
    EXPECT_NE(bench.get("/metrics").text.find("journal_sync_seconds_count 0\n"), std::string::npos);
  }
  EXPECT_EQ(ServerBench(options()).get("/v1/sessions/s").body["token_count"], 1);
}

}  // namespace
}  // namespace genai::serve
