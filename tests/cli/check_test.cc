#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace genai::cli {
namespace {

TEST(Check, SaysPathAndExpectedSpeed) {
  const Outcome outcome = run_program({"check", fixture("builder_llama_int4"), "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto object = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(object["path"], "paged");
  EXPECT_GT(object["expected_decode_tokens_per_second"], 0);
  EXPECT_EQ(object["kv_bytes_per_token"], 2 * 2 * 2 * 16 * 4);  // layers · (K, V) · heads · head size · f32
}

TEST(Check, SaysWhyAModelIsDense) {
  const Outcome outcome = run_program({"check", fixture("builder_llama_int4"), "--dense"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("why not paged"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace genai::cli
