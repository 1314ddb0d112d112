// Chat and plain completions on the fake model: what the bodies hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {

std::string prompt_of(const std::string& text) { return "[user|" + text + "][assistant|"; }

TEST(Chat, WholeAndStreamedAgree) {
  ServerBench bench;
  Json body = chat({user("hello")}, 20);
  const Reading whole = bench.post("/v1/chat/completions", body);
  ASSERT_EQ(whole.status, 200) << whole.text;
  EXPECT_EQ(whole.body["object"], "chat.completion");
  EXPECT_TRUE(whole.body["id"].get<std::string>().starts_with("chatcmpl-"));
  const Json& choice = whole.body["choices"][0];
  EXPECT_EQ(choice["message"]["content"], expected_text(prompt_of("hello"), 20));
  EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_EQ(whole.body["usage"]["prompt_tokens"], prompt_of("hello").size());
  EXPECT_EQ(whole.body["usage"]["completion_tokens"], 20);

  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const Reading stream = bench.post("/v1/chat/completions", body);
  EXPECT_EQ(Json(stream.joined()), choice["message"]["content"]);
  EXPECT_EQ(stream.events.front()["choices"][0]["delta"], Json({{"role", "assistant"}, {"content", ""}}));
  int finishes = 0;
  for (const Json& event : stream.events) {
    EXPECT_EQ(event["object"], "chat.completion.chunk");
    EXPECT_EQ(event["id"], stream.events.front()["id"]);
    ASSERT_TRUE(event.contains("usage"));
    for (const Json& one : event["choices"]) {
      ASSERT_TRUE(one.contains("finish_reason"));
      finishes += !one["finish_reason"].is_null();
    }
  }
  EXPECT_EQ(finishes, 1);
  EXPECT_EQ(stream.events.back()["choices"], Json::array());
  EXPECT_EQ(stream.events.back()["usage"]["completion_tokens"], 20);
  EXPECT_GT(stream.events.back()["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
}

TEST(Chat, LogprobsComeOncePerToken) {
  ServerBench bench;
  bench.ends = [](const StepSequence& s) { return s.past + static_cast<int64_t>(s.tokens.size()) >= 30; };
  Json body = chat({user("hello")}, 100);
  body["logprobs"] = true;
  body["top_logprobs"] = 3;
  const Reading whole = bench.post("/v1/chat/completions", body);
  const Json& entries = whole.body["choices"][0]["logprobs"]["content"];
  EXPECT_EQ(entries.size(), whole.body["usage"]["completion_tokens"]);
  EXPECT_EQ(whole.body["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(entries[0]["top_logprobs"].size(), 3u);
  EXPECT_EQ(entries[0]["top_logprobs"][0]["token"], entries[0]["token"]);
  EXPECT_LE(entries[0]["logprob"], 0);
  EXPECT_EQ(entries[0]["bytes"][0], static_cast<int>(entries[0]["token"].get<std::string>()[0]));
  body["stream"] = true;
  Json streamed = Json::array();
  for (const Json& event : bench.post("/v1/chat/completions", body).events) {
    const Json& logprobs = event["choices"][0]["logprobs"];
    if (logprobs.is_null()) continue;
    for (const Json& entry : logprobs["content"]) streamed.push_back(entry);
  }
  EXPECT_EQ(streamed, entries);
}

TEST(Chat, SeveralAnswersShareThePrompt) {
  ServerBench bench;
  Json body = chat({user("hello")}, 10);
  body["n"] = 4;
  body["temperature"] = 1;
  body["seed"] = 7;
  const Reading whole = bench.post("/v1/chat/completions", body);
  ASSERT_EQ(whole.body["choices"].size(), 4u);
  std::set<std::string> texts;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(whole.body["choices"][i]["index"], i);
    texts.insert(whole.body["choices"][i]["message"]["content"]);
  }
  EXPECT_EQ(texts.size(), 4u);
  EXPECT_EQ(whole.body["usage"]["prompt_tokens"], prompt_of("hello").size());
  EXPECT_EQ(whole.body["usage"]["completion_tokens"], 40);
  const Reading again = bench.post("/v1/chat/completions", body);
  EXPECT_EQ(again.body["choices"], whole.body["choices"]);  // same seed, same text
  body["n"] = 99;
  EXPECT_EQ(bench.post("/v1/chat/completions", body).param(), "n");
}

TEST(Chat, StopTextsEndTheAnswerInBothModes) {
  ServerBench bench;
  const std::string text = expected_text(prompt_of("hello"), 40);
  const std::string stop = text.substr(17, 4);
  const size_t at = text.find(stop);
  for (const bool stream : {false, true}) {
    for (const Json& include : {Json(nullptr), Json(false), Json(true)}) {
      Json body = chat({user("hello")}, 40);
      body["stop"] = stop;
      body["stream"] = stream;
      body["include_stop_str_in_output"] = include;
      const Reading answer = bench.post("/v1/chat/completions", body);
      const std::string got =
          stream ? answer.joined() : answer.body["choices"][0]["message"]["content"].get<std::string>();
      EXPECT_EQ(got, text.substr(0, at) + (include == true ? stop : ""));
      const Json finish =
          stream ? answer.events.back()["choices"][0]["finish_reason"] : answer.body["choices"][0]["finish_reason"];
      EXPECT_EQ(finish, "stop");
    }
  }
}

TEST(Chat, TruncationIsAskedForAndReported) {
  ServerBench bench({.context = 120});
  Json messages = Json::array({{{"role", "system"}, {"content", "s"}}});
  for (int i = 0; i < 6; ++i) {
    messages.push_back(user(std::string(20, 'a')));
    messages.push_back({{"role", "assistant"}, {"content", "b"}});
  }
  messages.push_back(user("last"));
  Json body = chat(messages, 4);
  const Reading refused = bench.post("/v1/chat/completions", body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.code(), "context_length_exceeded");
  EXPECT_EQ(refused.body["error"]["n_ctx"], 120);
  EXPECT_GT(refused.body["error"]["n_prompt_tokens"], 120);
  EXPECT_EQ(bench.status()["models"][0]["prompt_tokens"], 0);
  body["stream"] = true;
  EXPECT_EQ(bench.post("/v1/chat/completions", body).text, refused.text);
  body["stream"] = false;
  body["truncation"] = "auto";
  const Reading answered = bench.post("/v1/chat/completions", body);
  ASSERT_EQ(answered.status, 200) << answered.text;
  EXPECT_GT(answered.body["truncation"]["dropped_messages"], 0);
  EXPECT_LT(answered.body["usage"]["prompt_tokens"], 120);
  body["truncation"] = "always";
  EXPECT_EQ(bench.post("/v1/chat/completions", body).param(), "truncation");
}

TEST(Chat, TheLengthBoundIsExact) {
  ServerBench bench({.context = 64});
  for (const int tokens : {62, 63, 64, 65}) {
    const Json body = {
        {"prompt", std::string(static_cast<size_t>(tokens), 'a')}, {"max_tokens", 5}, {"temperature", 0}};
    const Reading answer = bench.post("/v1/completions", body);
    EXPECT_EQ(answer.status, tokens < 64 ? 200 : 400) << tokens;
    if (tokens < 64) {
      EXPECT_EQ(answer.body["usage"]["completion_tokens"], std::min(5, 64 - tokens));
    }
  }
}

TEST(Completions, ManyPromptsAreAllAnswered) {
  ServerBench bench({.rows = 4});
  for (const size_t count : {1u, 4u, 5u, 12u}) {
    Json prompts = Json::array();
    for (size_t i = 0; i < count; ++i) prompts.push_back("p" + std::string(i, 'x'));
    Json body = {{"prompt", prompts}, {"max_tokens", 6}, {"temperature", 0}};
    const Reading whole = bench.post("/v1/completions", body);
    ASSERT_EQ(whole.body["choices"].size(), count) << whole.text;
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(whole.body["choices"][i]["text"], expected_text("p" + std::string(i, 'x'), 6));
    }
    EXPECT_EQ(whole.body["usage"]["completion_tokens"], 6 * count);
    body["stream"] = true;
    std::map<int, std::string> texts;
    size_t finishes = 0;
    for (const Json& event : bench.post("/v1/completions", body).events) {
      texts[event["choices"][0]["index"]] += event["choices"][0]["text"].get<std::string>();
      finishes += !event["choices"][0]["finish_reason"].is_null();
    }
    EXPECT_EQ(finishes, count);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(Json(texts[static_cast<int>(i)]), whole.body["choices"][i]["text"]);
  }
}

TEST(Completions, LogprobsHaveTheirOwnForm) {
  ServerBench bench;
  for (const bool echo : {false, true}) {
    Json body = {{"prompt", "abc"}, {"max_tokens", 5}, {"temperature", 0}, {"logprobs", 3}, {"echo", echo}};
    const Reading whole = bench.post("/v1/completions", body);
    ASSERT_EQ(whole.status, 200) << whole.text;
    const Json& logprobs = whole.body["choices"][0]["logprobs"];
    const size_t count = echo ? 8 : 5;
    for (const char* field : {"tokens", "token_logprobs", "top_logprobs", "text_offset"}) {
      EXPECT_EQ(logprobs[field].size(), count) << field;
    }
    EXPECT_EQ(logprobs["token_logprobs"][0].is_null(), echo);
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(logprobs["text_offset"][i], text.size());
      text += logprobs["tokens"][i].get<std::string>();
      if (i > 0) EXPECT_EQ(logprobs["top_logprobs"][i].size(), 3u);
    }
    EXPECT_EQ(Json(text), whole.body["choices"][0]["text"]);
    body["stream"] = true;
    Json tokens = Json::array();
    for (const Json& event : bench.post("/v1/completions", body).events) {
      const Json& part = event["choices"][0]["logprobs"];
      if (part.is_object()) tokens.insert(tokens.end(), part["tokens"].begin(), part["tokens"].end());
    }
    EXPECT_EQ(tokens, logprobs["tokens"]);
  }
}

TEST(Completions, EchoAloneScoresThePrompt) {
  ServerBench bench;
  const Reading scored =
      bench.post("/v1/completions", {{"prompt", "abcd"}, {"max_tokens", 0}, {"echo", true}, {"logprobs", 1}});
  ASSERT_EQ(scored.status, 200) << scored.text;
  EXPECT_EQ(scored.body["choices"][0]["text"], "abcd");
  EXPECT_EQ(scored.body["choices"][0]["logprobs"]["tokens"].size(), 4u);
  EXPECT_EQ(bench.post("/v1/completions", {{"prompt", "abcd"}, {"max_tokens", 0}}).param(), "max_tokens");
}

TEST(Completions, IdenticalRequestsTogetherGiveIdenticalAnswers) {
  ServerBench bench;
  std::set<std::string> ids, texts;
  std::mutex mutex;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const Reading answer =
            bench.post("/v1/completions", {{"prompt", "same"}, {"max_tokens", 16}, {"temperature", 0}});
        const std::lock_guard lock(mutex);
        ids.insert(answer.body["id"]);
        texts.insert(answer.body["choices"][0]["text"]);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(ids.size(), 80u);
  EXPECT_EQ(texts, std::set<std::string>{expected_text("same", 16)});
  EXPECT_TRUE(bench.becomes_idle());
}

TEST(Completions, MetricsAreReal) {
  ServerBench bench;
  bench.post("/v1/completions", {{"prompt", "abc"}, {"max_tokens", 5}, {"temperature", 0}});
  bench.post("/v1/completions", {{"prompt", 5}});
  const std::string text = bench.get("/metrics").text;
  for (const char* line :
       {"onnx_genai_requests_total{endpoint=\"/v1/completions\",status=\"200\"} 1\n",
        "onnx_genai_requests_total{endpoint=\"/v1/completions\",status=\"400\"} 1\n",
        "onnx_genai_rejections_total{reason=\"invalid_value\"} 1\n", "onnx_genai_completion_tokens_total 5\n",
        "onnx_genai_time_to_first_token_seconds_count 1\n", "onnx_genai_inter_token_latency_seconds_count 4\n",
        "onnx_genai_tokens_generated_total{model=\"fake\"} 5\n", "onnx_genai_sessions_active 0\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace genai::serve
