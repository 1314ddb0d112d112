// Speculation through the routes: the same text, fewer steps, off for a request that says so, counted.
#include <gtest/gtest.h>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {

struct Spoken {
  std::string text;
  int64_t steps = 0, proposed = 0, accepted = 0;
};

Spoken ask(bool engine, const Json& request_says) {
  BenchOptions options;
  options.repeats = 16;  // its text goes round in circles
  options.engine.speculation.prompt_lookup = engine;
  options.engine.clock_ms = [] { return 1.0; };  // a row costs nothing, so each guess pays
  ServerBench bench(options);
  Json body = {{"prompt", "abc"}, {"max_tokens", 200}, {"temperature", 0}};
  if (!request_says.is_null()) body["speculate"] = request_says;
  const Reading answer = bench.post("/v1/completions", body);
  const Json model = bench.status()["models"][0];
  const std::string page = bench.get("/metrics").text;
  const auto shows = [&](const char* name, int64_t value) {
    const std::string line =
        std::string("speculation_") + name + "_tokens_total{model=\"fake\"} " + std::to_string(value) + "\n";
    EXPECT_NE(page.find(line), std::string::npos) << line;
  };
  const Spoken seen{answer.body["choices"][0]["text"], model["steps"], model["speculation"]["proposed_tokens"],
                    model["speculation"]["accepted_tokens"]};
  shows("proposed", seen.proposed);
  shows("accepted", seen.accepted);
  return seen;
}

TEST(Speculation, SameTextInFewerStepsUnlessARequestTurnsItOff) {
  const Spoken without = ask(false, nullptr), with = ask(true, nullptr), refused = ask(true, false);
  EXPECT_EQ(without.text.size(), 200u);
  EXPECT_EQ(with.text, without.text);
  EXPECT_EQ(refused.text, without.text);
  EXPECT_EQ(without.steps, 200);
  EXPECT_LT(with.steps, 150);
  EXPECT_EQ(with.steps, 200 - with.accepted);
  EXPECT_GE(with.proposed, with.accepted);
  EXPECT_EQ(refused.steps, 200);
  EXPECT_EQ(refused.proposed, 0);
}

}  // namespace
}  // namespace genai::serve
