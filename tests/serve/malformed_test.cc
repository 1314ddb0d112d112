// Every documented field of every route × values of every kind: 4xx with the field's name, or 200; and a live server.
#include <gtest/gtest.h>

#include <rapidcheck.h>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {

const std::vector<const char*> kSampling = {"max_tokens",
                                            "max_completion_tokens",
                                            "temperature",
                                            "top_p",
                                            "top_k",
                                            "min_p",
                                            "top_a",
                                            "typical_p",
                                            "repetition_penalty",
                                            "frequency_penalty",
                                            "presence_penalty",
                                            "seed",
                                            "dry_multiplier",
                                            "dry_base",
                                            "dry_allowed_length",
                                            "dry_sequence_breakers",
                                            "mirostat",
                                            "mirostat_tau",
                                            "mirostat_eta",
                                            "xtc_probability",
                                            "xtc_threshold",
                                            "stream",
                                            "stream_options",
                                            "stop",
                                            "n",
                                            "logit_bias",
                                            "logprobs",
                                            "ignore_eos",
                                            "skip_special_tokens",
                                            "include_stop_str_in_output",
                                            "speculate",
                                            "model",
                                            "session_id"};

std::vector<Json> values() {
  Json deep = 1;
  for (int i = 0; i < 50; ++i) deep = Json::array({deep});
  return {nullptr,
          true,
          -1,
          0,
          1e30,
          -0.5,
          INT64_MAX,
          INT64_MIN,
          UINT64_MAX,
          "",
          "text",
          std::string(300, 'x'),
          Json::array(),
          Json::array({1, "a", nullptr}),
          Json::object(),
          Json({{"a", 1}}),
          Json({{"-1", 1}}),
          deep};
}

void expect_answered(ServerBench& bench, const std::string& path, const Json& body, const std::string& field) {
  const Reading answer = bench.post(path, body);
  if (answer.status == 200) return;
  ASSERT_TRUE(answer.status >= 400 && answer.status < 500) << path << " " << body << "\n" << answer.text;
  ASSERT_TRUE(answer.body["error"]["message"].is_string()) << answer.text;
  EXPECT_EQ(answer.body["error"]["type"], answer.status == 429 ? "resource_limit_error" : "invalid_request_error")
      << answer.text;
  if (answer.status == 400) EXPECT_EQ(answer.param().substr(0, field.size()), field) << body << "\n" << answer.text;
}

TEST(Malformed, EveryFieldOfEveryKind) {
  ServerBench bench;
  const auto sweep = [&](const std::string& path, Json base, std::vector<const char*> fields) {
    base["max_tokens"] = 2;
    for (const char* field : fields) {
      for (const Json& value : values()) {
        Json body = base;
        body[field] = value;
        expect_answered(bench, path, body, field);
      }
    }
  };
  std::vector<const char*> chat_fields = kSampling, text_fields = kSampling;
  for (const char* field : {"messages", "top_logprobs", "tools", "tool_choice", "response_format", "truncation",
                            "reasoning_effort", "chat_template_kwargs", "modalities"}) {
    chat_fields.push_back(field);
  }
  for (const char* field : {"prompt", "echo", "suffix", "best_of"}) text_fields.push_back(field);
  sweep("/v1/chat/completions", {{"messages", {user("a")}}}, chat_fields);
  sweep("/v1/completions", {{"prompt", "a"}}, text_fields);
  EXPECT_EQ(bench.get("/health").status, 200);
  EXPECT_TRUE(bench.becomes_idle());
}

TEST(Malformed, OtherRoutes) {
  ServerBench bench;
  const std::vector<std::pair<const char*, std::vector<const char*>>> routes = {
      {"/tokenize", {"content", "messages", "add_special", "with_pieces", "model"}},
      {"/detokenize", {"tokens", "skip_special_tokens", "model"}},
      {"/apply-template", {"messages", "add_generation_prompt", "model"}},
      {"/v1/embeddings", {"input", "encoding_format", "dimensions", "model"}},
      {"/v1/sessions", {"id", "model"}},
      {"/v1/sessions/restore", {"id"}},
      {"/v1/sessions/none/rewind", {"position"}},
      {"/v1/sessions/none/fork", {"position"}}};
  for (const auto& [path, fields] : routes) {
    for (const char* field : fields) {
      for (const Json& value : values()) {
        const Reading answer = bench.post(path, {{field, value}});
        EXPECT_TRUE(answer.status == 200 || (answer.status >= 400 && answer.status < 500))
            << path << field << value << answer.text;
        if (answer.status != 200) {
          EXPECT_TRUE(answer.body["error"]["message"].is_string()) << answer.text;
          EXPECT_EQ(answer.body["error"]["type"], "invalid_request_error") << path << answer.text;
        }
      }
    }
  }
}

// What JSON can't say as a number, in each field's place: written into the text, since no JSON value holds it.
TEST(Malformed, NoFieldTakesWhatIsNoNumber) {
  ServerBench bench;
  for (const auto& [path, body] : {std::pair{"/v1/chat/completions", R"({"messages":[{"role":"user","content":"a"}])"},
                                   std::pair{"/v1/completions", R"({"prompt":"a")"}}) {
    for (const char* field : kSampling) {
      for (const char* value :
           {"NaN", "-NaN", "Infinity", "1e999", "-1e999", "0x10", "01", "+1", ".5", "1.", "undefined"}) {
        const Reading answer = bench.ask("POST", path, std::string(body) + ",\"" + field + "\":" + value + "}");
        EXPECT_EQ(answer.status, 400) << path << field << value;
        EXPECT_EQ(answer.code(), "invalid_json");
      }
    }
  }
}

TEST(Malformed, WhatIsMissingIsNamed) {
  ServerBench bench;
  for (const auto& [path, field] :
       {std::pair{"/v1/chat/completions", "messages"}, std::pair{"/v1/completions", "prompt"},
        std::pair{"/v1/embeddings", "input"}, std::pair{"/tokenize", "content"}, std::pair{"/detokenize", "tokens"},
        std::pair{"/apply-template", "messages"}, std::pair{"/v1/sessions/restore", "id"},
        std::pair{"/v1/sessions/s/rewind", "position"}}) {
    for (const Json& body : {Json::object(), Json({{field, nullptr}})}) {
      const Reading answer = bench.post(path, body);
      EXPECT_EQ(answer.status, 400) << path;
      EXPECT_EQ(answer.param(), field) << path << answer.text;
      EXPECT_EQ(answer.code(), "missing_required_parameter") << path;
    }
  }
}

TEST(Malformed, BytesThatAreNoTextNeverHarm) {
  ServerBench bench;
  for (const std::string bytes : {"\xff\xfe", "\xc0\x80", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "a\x80"}) {
    const std::string quoted = "\"" + bytes + "\"";
    for (const std::string& body : {"{\"prompt\":" + quoted + "}", "{" + quoted + ":1,\"prompt\":\"a\"}",
                                    "{\"prompt\":\"a\",\"stop\":[" + quoted + "]}"}) {
      EXPECT_EQ(bench.ask("POST", "/v1/completions", body).code(), "invalid_json");
    }
    EXPECT_EQ(bench.post("/v1/completions", {{"prompt", "a"}}, {{"x-session-id", bytes}}).param(), "X-Session-Id");
    for (const std::string& path : {"/" + bytes, "/v1/models/" + bytes, "/v1/sessions/" + bytes}) {
      const Reading answer = bench.get(path);
      EXPECT_EQ(answer.status, 404);
      EXPECT_TRUE(answer.body["error"]["message"].is_string()) << answer.text;
    }
  }
}

TEST(Malformed, ATemplateThatRefusesIsHeard) {
  BenchOptions options;
  options.chat_template =
      "{% if messages | length > 1 %}{{ raise_exception('one message only') }}{% endif %}{{ messages[0].content }}";
  ServerBench bench(options);
  EXPECT_EQ(bench.post("/v1/chat/completions", chat({user("a")}, 2)).status, 200);
  const int steps = bench.status()["models"][0]["steps"];
  const Reading refused = bench.post("/v1/chat/completions", chat({user("a"), user("b")}, 2));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.code(), "chat_template_error");
  EXPECT_EQ(refused.param(), "messages");
  EXPECT_NE(refused.text.find("one message only"), std::string::npos) << refused.text;
  EXPECT_EQ(bench.status()["models"][0]["steps"], steps);
}

TEST(Malformed, BrokenBodies) {
  ServerBench bench;
  const std::string good = chat({user("a")}, 2).dump();
  std::vector<std::string> bodies = {"",
                                     "{",
                                     "[]",
                                     "null",
                                     "1",
                                     "\"a\"",
                                     "{}",
                                     "{\"messages\":[]}",
                                     "{\"temperature\":1e999}",
                                     "{\"temperature\":NaN}",
                                     "{\"messages\":\"\xff\xfe\"}",
                                     std::string("{\"a\":\"\0\"}", 10),
                                     std::string(100'000, '['),
                                     "{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]}"};
  for (size_t cut = 1; cut < good.size(); cut += 3) bodies.push_back(good.substr(0, cut));
  for (const std::string& body : bodies) {
    const Reading answer = bench.ask("POST", "/v1/chat/completions", body);
    EXPECT_EQ(answer.status, 400) << body.substr(0, 80);
    EXPECT_EQ(answer.body["error"]["type"], "invalid_request_error");
  }
  EXPECT_EQ(bench.ask("POST", "/v1/chat/completions", good).status, 200);
}

TEST(Malformed, RandomBytesNeverHarm) {
  ServerBench bench;
  const std::string good =
      R"({"messages":[{"role":"user","content":"a"}],"max_tokens":2,"temperature":0.5,"stop":["x"]})";
  EXPECT_TRUE(rc::check("a damaged body is refused or answered", [&] {
    std::string body = good;
    const int changes = *rc::gen::inRange(1, 6);
    for (int i = 0; i < changes; ++i) {
      body[*rc::gen::inRange<size_t>(0, body.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
    }
    const Reading answer = bench.ask("POST", "/v1/chat/completions", body);
    RC_ASSERT(answer.status == 200 || answer.status == 400 || answer.status == 404);
  }));
}

TEST(Malformed, WhatIsKnownButNotOfferedIsNamed) {
  ServerBench bench;
  const std::vector<std::pair<const char*, Json>> fields = {
      {"tools", Json::array({Json({{"type", "function"}, {"function", {{"name", "f"}}}})})},
      {"tool_choice", "required"},
      {"response_format", {{"type", "json_object"}}},
      {"functions", Json::array()},
      {"grammar", "root ::= x"},
      {"guided_json", Json::object()},
      {"guided_regex", "a"},
      {"guided_choice", {"a"}},
      {"structured_outputs", Json::object()},
      {"format", "json"},
      {"audio", Json::object()}};
  for (const auto& [field, value] : fields) {
    Json body = chat({user("a")});
    body[field] = value;
    const Reading answer = bench.post("/v1/chat/completions", body);
    EXPECT_EQ(answer.param(), field);
    EXPECT_EQ(answer.code(), "unsupported_parameter");
  }
  const Json parts = Json::array({Json({{"type", "text"}, {"text", "a"}}), Json::object({{"type", "image_url"}})});
  const Json image = chat({Json({{"role", "user"}, {"content", parts}})});
  EXPECT_EQ(bench.post("/v1/chat/completions", image).param(), "messages[0].content[1].type");
}

TEST(Malformed, StrictNamesUnknownFields) {
  BenchOptions options;
  options.server.limits.strict = true;
  ServerBench bench(options);
  Json body = chat({user("a")}, 2);
  EXPECT_EQ(bench.post("/v1/chat/completions", body).status, 200);
  body["temprature"] = 1;
  EXPECT_EQ(bench.post("/v1/chat/completions", body).param(), "temprature");
}

TEST(Malformed, UnknownRoutesAndMethods) {
  ServerBench bench;
  EXPECT_EQ(bench.get("/nowhere").code(), "unknown_url");
  const Reading wrong = bench.get("/v1/chat/completions");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("Allow"), "POST");
  EXPECT_EQ(bench.get("/v1/sessions/..").status, 404);
  EXPECT_EQ(bench.get("/v1/sessions/").status, 404);
  EXPECT_EQ(bench.ask("POST", "/tokenize", "{\"content\":\"a\"}", {{"content-type", "text/plain"}}).code(),
            "invalid_content_type");
  EXPECT_EQ(bench.post("/v1/completions", {{"prompt", "a"}}, {{"x-session-id", ""}}).param(), "X-Session-Id");
  EXPECT_EQ(bench.post("/v1/completions", {{"prompt", "a"}}, {{"x-session-id", std::string(200, 'a')}}).param(),
            "X-Session-Id");
}

}  // namespace
}  // namespace genai::serve
