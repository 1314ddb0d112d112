// /metrics counts what happened, exactly; its text is what Prometheus reads.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {

// name{labels} → value
std::map<std::string, double> figures(ServerBench& bench) {
  std::map<std::string, double> all;
  std::istringstream in(bench.get("/metrics").text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const size_t space = line.rfind(' ');
    all[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
  return all;
}

Json completion(const std::string& prompt, int max_tokens, bool stream = false) {
  return {{"prompt", prompt}, {"max_tokens", max_tokens}, {"temperature", 0}, {"stream", stream}};
}

std::string requests(const char* endpoint, int status) {
  return std::string("onnx_genai_requests_total{endpoint=\"") + endpoint + "\",status=\"" + std::to_string(status) +
         "\"}";
}

TEST(MetricsPage, CountsWhatHappened) {
  ServerBench bench({.rows = 4});
  int64_t cached = 0;
  for (int i = 0; i < 3; ++i) {
    const Reading answer = bench.post("/v1/completions", completion(std::string(40, 'a'), 5, i == 1));
    if (i == 2) cached = answer.body["usage"]["prompt_tokens_details"]["cached_tokens"];
  }
  EXPECT_GE(cached, 32);
  bench.post("/v1/completions", {{"prompt", 7}});
  bench.get("/nowhere");
  {
    const Open gone = bench.open("POST", "/v1/completions", completion("b", 3000).dump());
  }
  ASSERT_TRUE(bench.becomes_idle());
  std::map<std::string, double> is = figures(bench);
  EXPECT_EQ(is[requests("/v1/completions", 200)], 3);
  EXPECT_EQ(is[requests("/v1/completions", 400)], 1);
  EXPECT_EQ(is[requests("/v1/completions", 499)], 1);
  EXPECT_EQ(is[requests("unknown", 404)], 1);
  EXPECT_EQ(is["onnx_genai_rejections_total{reason=\"invalid_value\"}"], 1);
  EXPECT_EQ(is["onnx_genai_rejections_total{reason=\"unknown_url\"}"], 1);
  EXPECT_EQ(is["onnx_genai_cancelled_turns_total"], 1);
  EXPECT_GE(is["onnx_genai_completion_tokens_total"], 15);
  EXPECT_EQ(is["onnx_genai_prompt_tokens_total"], 3 * 40 + 1);
  EXPECT_EQ(is["onnx_genai_cached_tokens_total"], 2 * cached);
  EXPECT_EQ(is["onnx_genai_prefix_cache_lookups_total"], 4);
  EXPECT_EQ(is["onnx_genai_prefix_cache_hits_total"], 2);
  EXPECT_EQ(is["onnx_genai_prefix_cache_hit_rate"], 0.5);
  const double answers = is["onnx_genai_time_to_first_token_seconds_count"];
  EXPECT_TRUE(answers == 3 || answers == 4) << answers;  // the one that left may have said nothing
  EXPECT_EQ(is["onnx_genai_inter_token_latency_seconds_count"], is["onnx_genai_completion_tokens_total"] - answers);
  EXPECT_EQ(is["onnx_genai_e2e_request_latency_seconds_count"], 4);
  EXPECT_EQ(is["onnx_genai_e2e_request_latency_seconds_bucket{le=\"+Inf\"}"], 4);
  EXPECT_GT(is["onnx_genai_e2e_request_latency_seconds_sum"], 0);
}

TEST(MetricsPage, AgreesWithTheEngine) {
  ServerBench bench({.rows = 4, .blocks = 100});
  bench.ask("POST", "/v1/completions", completion(std::string(40, 'a'), 8).dump(), {{"x-session-id", "s"}});
  ASSERT_TRUE(bench.becomes_idle());
  const auto of = [](const char* name) { return std::string("onnx_genai_") + name + "{model=\"fake\"}"; };
  std::map<std::string, double> is = figures(bench);
  const Json model = bench.status()["models"][0];
  EXPECT_EQ(is[of("batch_forward_steps_total")], model["steps"]);
  EXPECT_EQ(is[of("tokens_generated_total")], 8);
  EXPECT_EQ(is[of("prefilled_tokens_total")], 40);
  EXPECT_EQ(is[of("kv_pages_capacity")], 100);
  EXPECT_EQ(is[of("kv_pages_in_use")], model["kv"]["blocks_used"]);
  EXPECT_GT(is[of("kv_pages_in_use")], 0);
  EXPECT_EQ(is[of("kv_page_size_tokens")], 16);
  EXPECT_EQ(is[of("queue_free")], bench.permits);
  EXPECT_EQ(is[of("engine_up")], 1);
  EXPECT_EQ(is[of("requests_waiting")], 0);
  EXPECT_EQ(is["onnx_genai_sessions_active"], 1);
  EXPECT_EQ(is["onnx_genai_leases_held"], 0);
  EXPECT_GT(is["onnx_genai_memory_bytes{owner=\"kv\",model=\"fake\"}"], 0);
  EXPECT_GT(is["onnx_genai_host_ram_used_bytes"], 0);
  EXPECT_EQ(is["onnx_genai_host_ram_limit_bytes"] - is["onnx_genai_host_ram_used_bytes"],
            is["onnx_genai_host_ram_headroom_bytes"]);
}

TEST(MetricsPage, AFailedAnswerIsCountedAsOne) {
  ServerBench bench;
  bench.before_step = [](const Step&) { throw std::runtime_error("broken"); };
  bench.post("/v1/completions", completion("abc", 3));
  std::map<std::string, double> is = figures(bench);
  EXPECT_EQ(is[requests("/v1/completions", 500)], 1);
  EXPECT_FALSE(is.contains(requests("/v1/completions", 200)));
  EXPECT_EQ(is["onnx_genai_failed_turns_total"], 1);
}

TEST(MetricsPage, HasEachNameOnceAndNothingPrometheusCantRead) {
  BenchOptions options;
  options.server.models = {"one", "two"};
  ServerBench bench(options);
  for (const char* model : {"one", "two"}) {
    Json body = completion("abc", 3);
    body["model"] = model;
    bench.post("/v1/completions", body);
  }
  const std::regex sample(R"re([a-z_0-9]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?[0-9][0-9.e+-]*)re");
  std::set<std::string> seen, helped;
  std::istringstream in(bench.get("/metrics").text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# HELP ")) {
      EXPECT_TRUE(helped.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
    } else if (!line.starts_with("# TYPE ")) {
      EXPECT_TRUE(std::regex_match(line, sample)) << line;
      EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
  EXPECT_GT(helped.size(), 35u);
}

}  // namespace
}  // namespace genai::serve
