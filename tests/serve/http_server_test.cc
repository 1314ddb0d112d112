// The network side, over real sockets of the loopback.
#include "serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Client {
 public:
  explicit Client(int port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    timeval limit{.tv_sec = 20};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { close(); }
  Client(Client&& other) noexcept : fd_(std::exchange(other.fd_, -1)), read_(std::move(other.read_)) {}

  void send(const std::string& bytes) {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void close(bool reset = false) {
    if (fd_ < 0) return;
    const linger hard{.l_onoff = 1, .l_linger = 0};
    if (reset) ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    ::close(std::exchange(fd_, -1));
  }
  // More bytes; false at the end of the connection.
  bool more() {
    char bytes[4096];
    const ssize_t count = ::recv(fd_, bytes, sizeof bytes, 0);
    if (count > 0) read_.append(bytes, static_cast<size_t>(count));
    return count > 0;
  }
  std::string until(const std::string& mark) {
    while (read_.find(mark) == std::string::npos && more()) {
    }
    const size_t end = std::min(read_.find(mark), read_.size());
    const std::string taken = read_.substr(0, std::min(end + mark.size(), read_.size()));
    read_.erase(0, taken.size());
    return taken;
  }
  std::string rest() {
    while (more()) {
    }
    return std::exchange(read_, {});
  }
  // One whole reply with a Content-Length: status line and body.
  std::pair<std::string, std::string> reply() {
    const std::string head = until("\r\n\r\n");
    const size_t at = head.find("Content-Length: ");
    const size_t length = at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
    while (read_.size() < length && more()) {
    }
    std::string body = read_.substr(0, length);
    read_.erase(0, body.size());
    return {head.substr(0, head.find("\r\n")), body};
  }

 private:
  int fd_;
  std::string read_;
};

std::string post(const std::string& path, const std::string& body, const std::string& headers = {}) {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string completion(int max_tokens, bool stream, const std::string& prompt = "abc") {
  return Json({{"prompt", prompt}, {"max_tokens", max_tokens}, {"temperature", 0}, {"stream", stream}}).dump();
}

constexpr const char* kHealth = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";

class Http : public testing::Test {
 protected:
  void start(HttpOptions options = {}, BenchOptions bench = {}) {
    bench_ = std::make_unique<ServerBench>(std::move(bench));
    options.port = 0;
    http_ = std::make_unique<HttpServer>(*bench_->server, std::move(options));
    thread_ = std::thread([this] { http_->run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    http_->stop();
    thread_.join();
  }
  void TearDown() override { stop(); }
  Client client(int receive_buffer = 0) { return Client(http_->port(), receive_buffer); }

  std::unique_ptr<ServerBench> bench_;
  std::unique_ptr<HttpServer> http_;
  std::thread thread_;
};

TEST_F(Http, KeepsAConnectionAndTakesPipelinedAndSplitRequests) {
  start();
  Client one = client();
  one.send(std::string(kHealth) + post("/tokenize", R"({"content":"a"})") + kHealth);
  EXPECT_EQ(one.reply().second, R"({"status":"ok"})");
  EXPECT_EQ(one.reply().second, R"({"tokens":[97],"count":1})");
  EXPECT_EQ(one.reply().first, "HTTP/1.1 200 OK");
  for (const char c : post("/tokenize", R"({"content":"b"})")) one.send(std::string(1, c));
  EXPECT_EQ(one.reply().second, R"({"tokens":[98],"count":1})");
  one.send(
      "POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n8\r\n{\"conten\r\n7\r\nt\":\"c\"}\r\n0\r\n\r\n");
  EXPECT_EQ(one.reply().second, R"({"tokens":[99],"count":1})");
  one.send("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_NE(one.rest().find("Connection: close"), std::string::npos);
}

TEST_F(Http, StreamsEvents) {
  start();
  Client one = client();
  one.send(post("/v1/completions", completion(30, true)));
  const std::string head = one.until("\r\n\r\n");
  EXPECT_NE(head.find("200 OK"), std::string::npos);
  EXPECT_NE(head.find("Content-Type: text/event-stream"), std::string::npos);
  const std::string body = one.until("0\r\n\r\n");
  EXPECT_NE(body.find("data: [DONE]\n\n\r\n0\r\n\r\n"), std::string::npos);
  one.send(kHealth);  // the connection goes on
  EXPECT_EQ(one.reply().first, "HTTP/1.1 200 OK");
  Client old = client();
  const std::string request = completion(3, true);
  old.send("POST /v1/completions HTTP/1.0\r\nContent-Length: " + std::to_string(request.size()) + "\r\n\r\n" + request);
  EXPECT_TRUE(old.rest().ends_with("data: [DONE]\n\n"));  // no chunks in HTTP/1.0, the end is the end
}

TEST_F(Http, RefusesWhatIsTooMuchOrNoHttp) {
  start({.body_limit = 1000, .header_timeout = 1s});
  const auto status = [&](const std::string& request) {
    Client one = client();
    one.send(request);
    const std::string all = one.rest();
    EXPECT_NE(all.find(R"("type":"invalid_request_error")"), std::string::npos) << all;
    return all.substr(9, 3);
  };
  EXPECT_EQ(status(post("/tokenize", std::string(5000, 'x'))), "413");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'y') + "\r\n\r\n"), "431");
  EXPECT_EQ(status("hello\r\n\r\n"), "400");
  EXPECT_EQ(status("GET /health HTTP/1.1\r\nHost"), "408");  // and then nothing: a slow client
  Client one = client();
  one.send(kHealth);
  EXPECT_EQ(one.reply().first, "HTTP/1.1 200 OK");
}

TEST_F(Http, AClientThatLeavesEndsItsAnswer) {
  start({}, {.context = 100'000, .blocks = 8000});
  bench_->before_step = [](const Step&) { std::this_thread::sleep_for(1ms); };
  for (const bool stream : {true, false}) {
    for (const bool reset : {true, false}) {
      Client one = client();
      one.send(post("/v1/completions", completion(50'000, stream), "X-Session-Id: s\r\n"));
      if (stream) one.until("data: ");
      std::this_thread::sleep_for(50ms);
      EXPECT_EQ(bench_->status()["leases_held"], 1);
      one.close(reset);
      const auto began = Clock::now();
      EXPECT_TRUE(bench_->becomes_idle());
      EXPECT_LT(Clock::now() - began, 1500ms);
    }
  }
}

TEST_F(Http, AResetNeverHurtsTheOthers) {
  start();
  bench_->before_step = [](const Step&) { std::this_thread::sleep_for(200us); };
  Client steady = client();
  steady.send(post("/v1/completions", completion(600, true)));
  for (int i = 0; i < 50; ++i) {
    Client other = client();
    other.send(post("/v1/completions", completion(500, true, "x")));
    other.until("data: ");
    other.close(true);
  }
  const std::string body = steady.until("[DONE]");
  std::string text;
  for (size_t at = body.find("\"text\":\""); at != std::string::npos; at = body.find("\"text\":\"", at + 1)) {
    text += body.substr(at + 8, body.find('"', at + 8) - at - 8);
  }
  EXPECT_EQ(text, expected_text("abc", 600));
}

TEST_F(Http, AStalledReaderKeepsNothing) {
  start({}, {.context = 100'000, .blocks = 8000});
  Client stalled = client(4096);
  stalled.send(post("/v1/completions", completion(60'000, true), "X-Session-Id: s\r\n"));
  std::this_thread::sleep_for(300ms);
  const auto began = Clock::now();
  Client other = client();
  other.send(post("/v1/completions", completion(100, false)));
  EXPECT_EQ(other.reply().first, "HTTP/1.1 200 OK");
  EXPECT_LT(Clock::now() - began, 3s);
  EXPECT_TRUE(bench_->becomes_idle());
  const std::string all = stalled.until("[DONE]");
  EXPECT_NE(all.find("output buffer stayed full"), std::string::npos);
}

TEST_F(Http, ASilentConnectionMakesRoom) {
  start({.max_connections = 2});
  Client first = client(), second = client();
  for (Client* one : {&first, &second}) {
    one->send(kHealth);
    EXPECT_EQ(one->reply().first, "HTTP/1.1 200 OK");
  }
  Client newcomer = client();
  newcomer.send(kHealth);
  EXPECT_EQ(newcomer.reply().first, "HTTP/1.1 200 OK");
  EXPECT_EQ(first.rest(), "") << "the one that was silent the longest goes";
  second.send(kHealth);
  EXPECT_EQ(second.reply().first, "HTTP/1.1 200 OK");
}

TEST_F(Http, AnswersTakeTheirTimeOrEnd) {
  start({.request_timeout = 1s, .ping = 300ms});
  bench_->before_step = [](const Step&) { std::this_thread::sleep_for(700ms); };
  Client one = client();
  one.send(post("/v1/completions", completion(5, true)));
  const std::string all = one.until("[DONE]");
  EXPECT_NE(all.find(": ping\n\n"), std::string::npos);
  EXPECT_NE(all.find("\"code\":\"request_timeout\""), std::string::npos);
  Client whole = client();
  whole.send(post("/v1/completions", completion(5, false)));
  EXPECT_EQ(whole.reply().first.substr(9, 3), "504");
}

TEST_F(Http, StopsAfterRunningAnswersAndEndsTheRest) {
  start({.drain = 1s}, {.context = 100'000, .blocks = 8000});
  bench_->before_step = [](const Step&) { std::this_thread::sleep_for(1ms); };
  Client idle = client(), brief = client(), endless = client();
  brief.send(post("/v1/completions", completion(200, true)));
  endless.send(post("/v1/completions", completion(60'000, true)));
  brief.until("data: ");
  endless.until("data: ");
  const auto began = Clock::now();
  std::thread stopping([&] { stop(); });
  EXPECT_EQ(idle.rest(), "");
  EXPECT_NE(brief.until("[DONE]").find("\"finish_reason\":\"length\""), std::string::npos);
  const std::string cut = endless.until("[DONE]");
  EXPECT_NE(cut.find("\"code\":\"stopping\""), std::string::npos)
      << cut.substr(cut.size() > 500 ? cut.size() - 500 : 0);
  stopping.join();
  EXPECT_LT(Clock::now() - began, 3s);
}

TEST_F(Http, StatusPagesAnswerWhileThePromptIsRead) {
  start({}, {.context = 20'000, .blocks = 2000});
  bench_->before_step = [](const Step& step) {
    if (step.sequences[0].tokens.size() > 1) std::this_thread::sleep_for(100ms);
  };
  Client one = client();
  one.send(post("/v1/completions", completion(3, false, std::string(8000, 'a'))));
  Client look = client();
  for (int i = 0; i < 30; ++i) {
    for (const char* path : {"/health", "/metrics", "/v1/status", "/ready"}) {
      const auto began = Clock::now();
      look.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n");
      look.reply();
      EXPECT_LT(Clock::now() - began, 250ms) << path;  // 50 ms on an idle machine
    }
  }
}

TEST_F(Http, AnAddressInUseIsNamed) {
  start();
  BenchOptions other;
  ServerBench bench(other);
  EXPECT_THROW(HttpServer(*bench.server, {.port = http_->port()}), nxrt::Error);
  EXPECT_THROW(HttpServer(*bench.server, {.host = "no.such.host.invalid", .port = 0}), nxrt::Error);
  EXPECT_THROW(HttpServer(*bench.server, {.port = 0, .tls_cert = "/nowhere", .tls_key = "/nowhere"}), nxrt::Error);
}

}  // namespace
}  // namespace genai::serve
