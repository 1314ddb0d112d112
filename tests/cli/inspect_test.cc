#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace genai::cli {
namespace {

const std::string kModel = fixture("builder_llama_int4");

TEST(Inspect, TellsWhatTheModelIs) {
  const Outcome outcome = run_program({"inspect", kModel, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto object = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(object["described_by"], "genai_config.json");
  EXPECT_EQ(object["context_length"], 128);
  EXPECT_EQ(object["operators"]["com.microsoft.GroupQueryAttention"], 2);
  EXPECT_EQ(object["outputs"].contains("logits"), true);
}

TEST(Inspect, PrintsGraphAndPasses) {
  const Outcome graph = run_program({"inspect", kModel, "--graph"});
  EXPECT_EQ(graph.exit_code, 0) << graph.err;
  EXPECT_NE(graph.out.find("com.microsoft.MatMulNBits"), std::string::npos);
  const Outcome passes = run_program({"inspect", kModel, "--passes"});
  EXPECT_EQ(passes.exit_code, 0) << passes.err;
  EXPECT_NE(passes.out.find("fuse_silu"), std::string::npos) << passes.out;
}

TEST(Inspect, RefusesWhatIsNoModel) {
  const ScratchFolder folder;
  const Outcome outcome = run_program({"inspect", folder.path.string()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
}

}  // namespace
}  // namespace genai::cli
