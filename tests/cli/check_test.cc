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
  EXPECT_EQ(object["kv_type"], "f16");
  EXPECT_EQ(object["kv_bytes_per_token"], 2 * 2 * 2 * 16 * 2);  // layers · (K, V) · heads · head size · f16
}

TEST(Check, SaysTheTypeOfTheKvCache) {
  const auto line = [](const std::vector<std::string>& options, const char* fixture_name) {
    std::vector<std::string> command = {"check", fixture(fixture_name)};
    command.insert(command.end(), options.begin(), options.end());
    const Outcome outcome = run_program(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const size_t begin = outcome.out.find("KV cache ");
    return outcome.out.substr(begin, outcome.out.find(" per token", begin) - begin);
  };
  EXPECT_EQ(line({}, "builder_llama_fp32"), "KV cache             f32, 512 B");
  EXPECT_EQ(line({}, "builder_llama_int4"), "KV cache             f16, 256 B");
  EXPECT_EQ(line({"--kv-type", "f32"}, "builder_llama_int4"), "KV cache             f32, 512 B");
  EXPECT_EQ(line({"--kv-type", "f16"}, "builder_llama_fp32"), "KV cache             f16, 256 B");
}

TEST(Check, SaysWhyAModelIsDense) {
  const Outcome outcome = run_program({"check", fixture("builder_llama_int4"), "--dense"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("why not paged"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace genai::cli
