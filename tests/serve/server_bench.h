// A server over the fake model, asked without a network: dispatch(), then the answer is read as the event loop would.
//
//   ServerBench bench;
//   Reading answer = bench.post("/v1/completions", {{"prompt", "abc"}, {"max_tokens", 4}});
//
// The fake model speaks lower-case letters: token = byte, 256 ends the text.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/dispatch.h"
#include "support/fake_model.h"

namespace genai::serve {

class ByteTokenizer : public Tokenizer {
 public:
  static constexpr int kVocab = 257, kEnd = 256;
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions&) const override;
  std::string decode(std::span<const TokenId> ids, bool) const override;
  int vocab_size() const override { return kVocab; }
  std::optional<TokenId> id_of(std::string_view) const override { return std::nullopt; }
  std::string token(TokenId id) const override { return bytes_of(id, false); }
  bool is_special(TokenId id) const override { return id.value == kEnd; }
  std::string bytes_of(TokenId id, bool) const override;
};

class WaitingWakeup : public Wakeup {
 public:
  void ring() noexcept override;
  bool wait();  // false: nothing came for a long time

 private:
  std::mutex mutex_;
  std::condition_variable rang_;
  bool rung_ = false;
};

// What came back, read to its end.
struct Reading {
  int status = 0;
  std::string text;          // the body, or all events as they were sent
  Json body;                 // of a whole answer; discarded when it isn't JSON
  std::vector<Json> events;  // of a stream, without the end mark
  bool end_mark = false;
  std::map<std::string, std::string> headers;

  std::string joined(const char* field = "content") const;  // of the chat deltas of choice 0
  std::string code() const { return error_field("code"); }
  std::string param() const { return error_field("param"); }
  std::string error_field(const char* field) const;  // empty when it isn't a text
};

void parse_events(Reading& reading);  // of its text

// A reply that is still being made.
struct Open {
  HttpRequest http;
  std::shared_ptr<WaitingWakeup> wakeup;
  Reply reply;
};

struct BenchOptions {
  ServerOptions server;
  EngineOptions engine;
  DriverOptions driver;
  int rows = 8;
  int context = 4096;
  int64_t blocks = 2000;
  std::string chat_template = {};  // empty: one that takes everything
  float repeats = 0;               // of the fake model
};

class ServerBench {
 public:
  explicit ServerBench(BenchOptions options = {});
  ~ServerBench();

  using Headers = std::map<std::string, std::string>;
  Open open(const std::string& method, const std::string& path, const std::string& body, const Headers& headers = {});
  static Reading finish(Open open);
  Reading ask(const std::string& method, const std::string& path, const std::string& body = {},
              const Headers& headers = {});
  Reading post(const std::string& path, const Json& body, const Headers& headers = {}) {
    return ask("POST", path, body.dump(), headers);
  }
  Reading get(const std::string& path, const Headers& headers = {}) { return ask("GET", path, {}, headers); }
  Json status() { return get("/v1/status").body; }

  // Until nothing runs and no lease or permit is held; false after 5 s.
  bool becomes_idle();

  std::function<void(const Step&)> before_step;         // of every model; may sleep or throw
  std::function<void(const std::string&)> before_load;  // of a model; may sleep or throw
  std::function<bool(const StepSequence&)> ends;        // whether the next token ends the text
  std::unique_ptr<Server> server;
  int permits = 0;
  std::atomic<int> loads{0};

 private:
  std::shared_ptr<ServedModel> load(const std::string& name, const BenchOptions& options);
};

Json user(const std::string& text);
Json chat(const Json& messages, int max_tokens = 8);
Json chat(std::initializer_list<Json> messages, int max_tokens = 8);

// The fake model's greedy continuation, from its definition.
std::string expected_text(const std::string& prompt, int count);

}  // namespace genai::serve
