// A real package with a 4-bit head through the whole server path: routes, driver, engine, runtime.
#include <gtest/gtest.h>

#include "gen/load_model.h"
#include "serve/server_bench.h"

namespace genai::serve {
namespace {

std::shared_ptr<ServedModel> load(const std::string& name) {
  auto loaded = std::make_shared<LoadedModel>(load_model(NXRT_SOURCE_DIR "/tests/fixtures/tiny_sub4", {.threads = 1}));
  auto served = std::make_shared<ServedModel>();
  served->name = name;
  served->fingerprint = "sub4";
  served->tokenizer = loaded->tokenizer;
  served->generation = loaded->spec.generation;
  served->chat.emplace(loaded->spec);
  auto engine = std::make_unique<Engine>(std::move(loaded->decoder), loaded->tokenizer, EngineOptions{});
  served->driver = std::make_unique<Driver>(name, std::move(engine), 16, DriverOptions{});
  served->loaded = loaded;
  return served;
}

TEST(Sub4, TwoTokensThenTheSessionCloses) {
  Server server({.models = {"sub4"}}, load);
  const auto ask = [&](const std::string& method, const std::string& path, const Json& body) {
    Open open;
    open.wakeup = std::make_shared<WaitingWakeup>();
    open.http = {
        .method = method, .path = path, .headers = {{"x-session-id", "s"}}, .body = body.is_null() ? "" : body.dump()};
    open.http.wakeup = open.wakeup;
    open.reply = dispatch(server, open.http);
    return ServerBench::finish(std::move(open));
  };
  const Reading answer =
      ask("POST", "/v1/completions",
          {{"prompt", {0}}, {"max_tokens", 2}, {"temperature", 0}, {"ignore_eos", true}, {"logprobs", 0}});
  ASSERT_EQ(answer.status, 200) << answer.text;
  EXPECT_EQ(answer.body["choices"][0]["logprobs"]["tokens"], Json({" one", " one"}));
  EXPECT_EQ(answer.body["session_token_count"], 3);
  {
    const HeldSession held = server.sessions().registry().lease(*SessionId::parse("s"), "");
    EXPECT_EQ(held.session->conversation.tokens, (std::vector<TokenId>{TokenId(0), TokenId(1), TokenId(1)}));
  }
  EXPECT_EQ(ask("GET", "/v1/sessions/s", nullptr).body["token_count"], 3);
  EXPECT_EQ(ask("DELETE", "/v1/sessions/s", nullptr).status, 204);
  server.stop();
}

}  // namespace
}  // namespace genai::serve
