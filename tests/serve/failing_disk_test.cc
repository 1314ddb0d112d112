// Durable sessions on a disk that is full, gone, or holds what doesn't belong there.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {
namespace fs = std::filesystem;

ServerBench::Headers on(const std::string& id) { return {{"x-session-id", id}}; }

Json completion(const std::string& prompt, int max_tokens) {
  return {{"prompt", prompt}, {"max_tokens", max_tokens}, {"temperature", 0}};
}

std::string text_of(const Reading& answer) { return answer.body["choices"][0]["text"]; }

// No file may grow beyond so many bytes: a write then ends in the middle, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(size_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

class FailingDisk : public testing::Test {
 protected:
  FailingDisk()
      : folder_(fs::temp_directory_path() / ("genai-disk-" + std::to_string(::getpid()) + "-" +
                                             testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
  }
  ~FailingDisk() override { fs::remove_all(folder_); }

  BenchOptions options(int most_sessions = 256) {
    BenchOptions options;
    options.server.sessions.directory = folder_;
    options.server.sessions.most = most_sessions;
    options.server.log = [this](const std::string& line) { log_ += line + "\n"; };
    return options;
  }
  fs::path file(const std::string& suffix) const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == suffix) return entry.path();
    }
    return {};
  }
  static std::string bytes_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The file with another image of the engine's context in it.
  static void change_image(const fs::path& path, const std::function<void(ContextImage&)>& change) {
    Snapshot snapshot = read_snapshot(bytes_of(path));
    change(snapshot.image);
    Session session(*SessionId::parse(snapshot.id), snapshot.owner, {.model = snapshot.model}, snapshot.created);
    session.conversation = snapshot.conversation;
    std::ofstream(path, std::ios::binary) << snapshot_bytes(session, snapshot.fingerprint, snapshot.image);
  }

  const fs::path folder_;
  std::string log_;
};

TEST_F(FailingDisk, ATurnThatCantBeWrittenStandsAndIsWrittenWhenItCan) {
  std::string said;
  {
    ServerBench bench(options(1));
    said = "abc" + text_of(bench.post("/v1/completions", completion("abc", 4), on("s")));
    {
      const FullDisk full(fs::file_size(file(".journal")) + 10);
      said += "x" + text_of(bench.post("/v1/completions", completion("x", 4), on("s")));
      EXPECT_NE(bench.get("/metrics").text.find("journal_failures_total 1\n"), std::string::npos);
      bench.server->look_after();
      // In memory alone, so it isn't the one that makes room.
      EXPECT_EQ(bench.post("/v1/completions", completion("a", 2), on("t")).code(), "too_many_sessions");
    }
    EXPECT_NE(log_.find("in memory alone"), std::string::npos) << log_;
    bench.server->look_after();
    EXPECT_EQ(bench.post("/v1/completions", completion("a", 2), on("t")).status, 200);
  }
  ServerBench bench(options());
  EXPECT_EQ(bench.get("/v1/sessions/s").body["turns"], 2);
  EXPECT_EQ(text_of(bench.post("/v1/completions", completion("y", 4), on("s"))), expected_text(said + "y", 4));
}

// The record that a full disk tears must not hide those that are written after it.
TEST_F(FailingDisk, LaterTurnsAreNotLostBehindATornOne) {
  {
    ServerBench bench(options());
    bench.post("/v1/completions", completion("abc", 4), on("s"));
    {
      const FullDisk full(fs::file_size(file(".journal")) + 10);
      bench.post("/v1/completions", completion("x", 4), on("s"));
    }
    bench.post("/v1/completions", completion("y", 4), on("s"));
    fs::copy(folder_, folder_.string() + "-killed", fs::copy_options::recursive);
  }
  fs::remove_all(folder_);
  fs::rename(folder_.string() + "-killed", folder_);
  ServerBench bench(options());
  EXPECT_EQ(bench.get("/v1/sessions/s").body["turns"], 3);
}

TEST_F(FailingDisk, EvictionAndTheEndLoseTheCacheAndNoTurn) {
  std::string said;
  {
    ServerBench bench(options(1));
    said =
        std::string(400, 'a') + text_of(bench.post("/v1/completions", completion(std::string(400, 'a'), 8), on("s")));
    const FullDisk full(fs::file_size(file(".journal")) + 500);  // room for journals, not for keys and values
    EXPECT_EQ(bench.post("/v1/completions", completion("b", 2), on("t")).status, 200);
    EXPECT_NE(log_.find("keeps its tokens"), std::string::npos) << log_;
    said += "x" + text_of(bench.post("/v1/completions", completion("x", 4), on("s")));
    EXPECT_TRUE(said.ends_with(expected_text(said.substr(0, said.size() - 4), 4)));
    bench.server->stop();
  }
  EXPECT_TRUE(file(".partial").empty());
  ServerBench bench(options());
  EXPECT_EQ(text_of(bench.post("/v1/completions", completion("y", 4), on("s"))), expected_text(said + "y", 4));
}

TEST_F(FailingDisk, AFolderThatIsGoneEndsNoTurn) {
  ServerBench bench(options());
  const std::string first = text_of(bench.post("/v1/completions", completion("abc", 4), on("s")));
  fs::remove_all(folder_);
  EXPECT_EQ(text_of(bench.post("/v1/completions", completion("x", 4), on("s"))), expected_text("abc" + first + "x", 4));
  EXPECT_EQ(bench.post("/v1/completions", completion("x", 4), on("new")).status, 200);
  EXPECT_EQ(bench.post("/v1/sessions/s/save", Json::object()).status, 500);
  fs::create_directories(folder_);
  bench.server->look_after();
  EXPECT_FALSE(file(".journal").empty());
}

TEST_F(FailingDisk, ADamagedFileSaysSo) {
  ServerBench bench(options());
  bench.post("/v1/completions", completion("abc", 4), on("s"));
  bench.post("/v1/sessions/s/save", Json::object());
  std::ofstream(file(".saved"), std::ios::binary) << "something else";
  const Reading refused = bench.post("/v1/sessions/restore", {{"id", "s"}});
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.code(), "session_file_damaged");
  EXPECT_EQ(refused.param(), "id");
  EXPECT_EQ(refused.text.find(folder_.string()), std::string::npos);
}

// Served again with another type of the cache's elements: what was kept of it is no use.
TEST_F(FailingDisk, AnotherCacheLayoutIsComputedAgain) {
  std::string said;
  {
    ServerBench bench(options());
    said = "abc" + text_of(bench.post("/v1/completions", completion("abc", 20), on("s")));
    bench.post("/v1/sessions/s/save", Json::object());
  }
  for (const char* suffix : {".kv", ".saved"}) {
    change_image(file(suffix), [](ContextImage& image) {
      image.block_bytes /= 2;
      image.kv.resize(image.kv.size() / 2);
    });
  }
  ServerBench bench(options());
  EXPECT_EQ(text_of(bench.post("/v1/completions", completion("x", 4), on("s"))), expected_text(said + "x", 4));
  ASSERT_EQ(bench.post("/v1/sessions/restore", {{"id", "s"}}).status, 200);
  EXPECT_EQ(text_of(bench.post("/v1/completions", completion("x", 4), on("s"))), expected_text(said + "x", 4));
}

TEST_F(FailingDisk, ARestoreThatFailsLeavesNoSession) {
  {
    ServerBench bench(options());
    bench.post("/v1/completions", completion("abc", 20), on("s"));
    bench.post("/v1/sessions/s/save", Json::object());
  }
  change_image(file(".saved"), [](ContextImage& image) { image.kv.resize(image.kv.size() / 2); });
  fs::remove(file(".journal"));
  fs::remove(file(".kv"));
  ServerBench bench(options());
  EXPECT_EQ(bench.post("/v1/sessions/restore", {{"id", "s"}}).code(), "session_file_damaged");
  EXPECT_EQ(bench.get("/v1/sessions/s").status, 404);
  EXPECT_EQ(bench.status()["sessions"]["live"], 0);
  EXPECT_EQ(bench.status()["leases_held"], 0);
}

TEST_F(FailingDisk, ASmallerContextRefusesTheSessionWithNumbers) {
  {
    ServerBench bench(options());
    bench.post("/v1/completions", completion(std::string(100, 'a'), 20), on("s"));
  }
  BenchOptions smaller = options();
  smaller.context = 64;
  ServerBench bench(smaller);
  const Reading refused = bench.post("/v1/completions", completion("x", 4), on("s"));
  EXPECT_EQ(refused.code(), "context_length_exceeded") << refused.text;
  EXPECT_EQ(bench.ask("DELETE", "/v1/sessions/s").status, 204);
}

TEST_F(FailingDisk, ARefusedFirstTurnLeavesNoFile) {
  BenchOptions one = options();
  one.rows = 1;
  one.driver.max_queue = 0;
  ServerBench bench(one);
  const Open running = bench.open("POST", "/v1/completions", completion("abc", 2000).dump());
  EXPECT_EQ(bench.post("/v1/completions", completion("x", 4), on("s")).code(), "queue_full");
  EXPECT_EQ(bench.get("/v1/sessions/s").status, 404);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace genai::serve
