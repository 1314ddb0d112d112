#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace genai::cli {
namespace {

TEST(Bench, MeasuresStreams) {
  const Outcome outcome =
      run_program({"bench", fixture("builder_llama_int4"), "--prompt-tokens", "20", "--decode-tokens", "8", "--streams",
                   "3", "--repeat", "2", "--threads", "2", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto object = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(object["runs"].size(), 2u);
  EXPECT_EQ(object["threads"], 2);
  EXPECT_EQ(object["memory"]["kv_type"], "f16");
  EXPECT_EQ(object["runs"][0]["usage"]["completion_tokens"], 24);
  EXPECT_GT(object["medians"]["decode_tokens_per_second"], 0);
  EXPECT_GT(object["medians"]["prefill_tokens_per_second"], 0);
  EXPECT_EQ(object["runs"][0]["speculation"]["proposed_tokens"], 0) << "not unless it is asked for";
}

}  // namespace
}  // namespace genai::cli
