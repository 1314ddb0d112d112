// tests/golden/http/*.txt: exchanges with a server over the fake model, one server a file.
//
//   > POST /tokenize          method and path
//   > x-session-id: s         headers
//   > {"content": "ab"}       the body: a line that begins with {
//   < 200                     the status
//   < retry-after: 1          headers
//   < {"count": 2}            what the body holds at least; "*" is anything
//   < data: {"choices": …}    the stream's events, in order, likewise; the last is data: [DONE]
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {

bool holds(const Json& is, const Json& want) {
  if (want == "*") return true;
  if (want.is_object()) {
    for (const auto& item : want.items()) {
      if (!is.is_object() || !is.contains(item.key()) || !holds(is[item.key()], item.value())) return false;
    }
    return is.is_object();
  }
  if (want.is_array()) {
    if (!is.is_array() || is.size() != want.size()) return false;
    for (size_t i = 0; i < want.size(); ++i) {
      if (!holds(is[i], want[i])) return false;
    }
    return true;
  }
  return is == want;
}

struct Exchange {
  std::string method, path, body;
  ServerBench::Headers headers;
  std::vector<std::string> wanted;
  int line = 0;
};

std::vector<Exchange> read_exchanges(const std::filesystem::path& file) {
  std::vector<Exchange> exchanges;
  std::ifstream in(file);
  int number = 0;
  bool asking = false;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const bool question = line.starts_with("> ");
    const std::string rest = line.substr(2);
    if (!question) {
      exchanges.back().wanted.push_back(rest);
    } else if (!asking) {
      const size_t space = rest.find(' ');
      exchanges.push_back({.method = rest.substr(0, space), .path = rest.substr(space + 1), .line = number});
    } else if (rest.starts_with("{") || rest.starts_with("[")) {
      exchanges.back().body = rest;
    } else {
      const size_t colon = rest.find(": ");
      exchanges.back().headers[rest.substr(0, colon)] = rest.substr(colon + 2);
    }
    asking = question;
  }
  return exchanges;
}

void check(const Exchange& exchange, const Reading& answer) {
  size_t event = 0;
  for (const std::string& want : exchange.wanted) {
    if (want == "data: [DONE]") {
      EXPECT_TRUE(answer.end_mark && event == answer.events.size()) << answer.text;
    } else if (want.starts_with("data: ")) {
      ASSERT_LT(event, answer.events.size()) << want;
      EXPECT_TRUE(holds(answer.events[event], Json::parse(want.substr(6)))) << want << "\n" << answer.events[event];
      ++event;
    } else if (want.starts_with("{")) {
      EXPECT_TRUE(holds(answer.body, Json::parse(want))) << "wanted " << want << "\n   got " << answer.text;
    } else if (want.starts_with("text: ")) {
      EXPECT_NE(answer.text.find(want.substr(6)), std::string::npos) << answer.text;
    } else if (const size_t colon = want.find(": "); colon != std::string::npos) {
      const auto header = answer.headers.find(want.substr(0, colon));
      ASSERT_NE(header, answer.headers.end()) << want;
      EXPECT_EQ(header->second, want.substr(colon + 2));
    } else {
      EXPECT_EQ(std::to_string(answer.status), want) << answer.text;
    }
  }
}

TEST(Transcripts, AreKept) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NXRT_SOURCE_DIR "/tests/golden/http")) {
    ServerBench bench;
    const std::vector<Exchange> exchanges = read_exchanges(entry.path());
    EXPECT_FALSE(exchanges.empty()) << entry.path();
    for (const Exchange& exchange : exchanges) {
      SCOPED_TRACE(entry.path().filename().string() + ":" + std::to_string(exchange.line));
      check(exchange, bench.ask(exchange.method, exchange.path, exchange.body, exchange.headers));
      ++count;
    }
  }
  EXPECT_GT(count, 50u);
}

TEST(Transcripts, ADifferenceIsSeen) {
  const Json is = {{"a", 1}, {"b", {1, 2}}};
  EXPECT_TRUE(holds(is, {{"b", {1, "*"}}}));
  EXPECT_FALSE(holds(is, {{"a", 2}}));
  EXPECT_FALSE(holds(is, {{"c", "*"}}));
  EXPECT_FALSE(holds(is, {{"b", {1}}}));
}

}  // namespace
}  // namespace genai::serve
