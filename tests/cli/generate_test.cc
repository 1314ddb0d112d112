#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace genai::cli {
namespace {

using nlohmann::json;

// What onnxruntime says of the same folder (tests/fixtures/make_builder_llama.py).
json golden(const std::string& name) {
  std::ifstream file(fixture(name) + "/golden.json");
  return json::parse(file);
}

std::string joined(const json& ids) {
  std::string all;
  for (const int id : ids) all += (all.empty() ? "" : ",") + std::to_string(id);
  return all;
}

json generate_json(const std::string& model, std::vector<std::string> more) {
  std::vector<std::string> arguments = {"generate", fixture(model), "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_program(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return json::parse(outcome.out, nullptr, false);
}

TEST(Generate, GreedyTokensAreOnnxRuntimes) {
  const json wanted = golden("builder_llama_fp32");
  const json result =
      generate_json("builder_llama_fp32", {"--token-ids", joined(wanted["prompt"]), "--temperature", "0",
                                           "--ignore-eos", "--max-tokens", std::to_string(wanted["greedy"].size())});
  EXPECT_EQ(result["token_ids"], wanted["greedy"]);
  EXPECT_EQ(result["prompt_token_ids"], wanted["prompt"]);
  EXPECT_EQ(result["finish_reason"], "length");
  EXPECT_EQ(result["usage"]["prompt_tokens"], wanted["prompt"].size());
  EXPECT_EQ(result["usage"]["completion_tokens"], wanted["greedy"].size());
  EXPECT_GT(result["timings"]["load_ms"], 0);
  EXPECT_GT(result["memory"]["weights_bytes"], 0);
}

TEST(Generate, DenseAndPagedPathsAgree) {
  const json wanted = golden("builder_llama_fp32");
  const json result =
      generate_json("builder_llama_fp32", {"--dense", "--token-ids", joined(wanted["prompt"]), "--temperature", "0",
                                           "--ignore-eos", "--max-tokens", std::to_string(wanted["greedy"].size())});
  EXPECT_EQ(result["token_ids"], wanted["greedy"]);
}

TEST(Generate, SameSeedSameText) {
  const std::vector<std::string> arguments = {"-p",           "hello", "--temperature", "1", "--seed", "7",
                                              "--max-tokens", "12",    "--ignore-eos"};
  EXPECT_EQ(generate_json("builder_llama_int4", arguments)["token_ids"],
            generate_json("builder_llama_int4", arguments)["token_ids"]);
}

TEST(Generate, StreamsTextToStdoutAndFiguresToStderr) {
  const Outcome outcome = run_program({"generate", fixture("builder_llama_fp32"), "-", "--max-tokens", "5"}, "hello");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("answer"), std::string::npos);
  EXPECT_EQ(outcome.out.find("tok/s"), std::string::npos);
}

TEST(Generate, LogprobsAreListed) {
  const json result =
      generate_json("builder_llama_fp32", {"-p", "hello", "--max-tokens", "3", "--ignore-eos", "--logprobs", "4"});
  ASSERT_EQ(result["logprobs"].size(), 3u);
  for (const json& token : result["logprobs"]) {
    ASSERT_EQ(token["top"].size(), 4u);
    EXPECT_EQ(token["top"][0]["token_id"], token["token_id"]);
    EXPECT_LE(token["logprob"], 0);
    EXPECT_GE(token["top"][0]["logprob"], token["top"][1]["logprob"]);
  }
}

struct BadInput {
  const char* name;
  std::vector<std::string> arguments;
  const char* says;
};

class GenerateRefuses : public testing::TestWithParam<BadInput> {};

TEST_P(GenerateRefuses, WithOneClearError) {
  std::vector<std::string> arguments = {"generate"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const Outcome outcome = run_program(arguments);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
  EXPECT_NE(outcome.err.find(GetParam().says), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

const std::string kModel = fixture("builder_llama_fp32");

INSTANTIATE_TEST_SUITE_P(
    BadInput, GenerateRefuses,
    testing::Values(BadInput{"missing", {"/no/such/folder", "-p", "x"}, "/no/such/folder"},
                    BadInput{"no_file", {kModel, "--prompt-file", "/no/such/file"}, "/no/such/file"},
                    BadInput{"token", {kModel, "--token-ids", "1,x"}, "'x' is not a token id"},
                    BadInput{"range", {kModel, "--token-ids", "1,999999"}, "999999"},
                    BadInput{"utf8", {kModel, "-p", "a\xff"}, "UTF-8"},
                    BadInput{"context", {kModel, "--context", "8", "-p", std::string(400, 'x')}, "8"},
                    BadInput{"context_above", {kModel, "--context", "100000", "-p", "x"}, "100000"},
                    BadInput{"kv", {kModel, "--kv-memory", "1", "-p", "x"}, "KV"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Generate, CtrlCStopsTheAnswer) {
  const Outcome outcome =
      interrupt_program({"generate", kModel, "-p", "hello", "--max-tokens", "110", "--ignore-eos"}, "", 1);
  EXPECT_TRUE(outcome.exit_code == 130 || outcome.exit_code == 0) << outcome.exit_code << outcome.err;
}

TEST(Generate, SpeculationChangesNoToken) {
  const std::string model = "builder_llama_int4";
  std::string prompt = "5";
  for (int i = 1; i < 40; ++i) prompt += "," + std::to_string(5 + i % 7);
  const auto answer = [&](std::vector<std::string> more) {
    const std::vector<std::string> common = {"--token-ids",  prompt, "--temperature", "0", "--ignore-eos",
                                             "--max-tokens", "60"};
    more.insert(more.end(), common.begin(), common.end());
    return generate_json(model, more);
  };
  const json plain = answer({"--speculate", "off"});
  EXPECT_EQ(plain["speculation"]["proposed_tokens"], 0);
  for (const json& other : {answer({}), answer({"--speculate", "lookup"}), answer({"--draft-model", fixture(model)})}) {
    EXPECT_EQ(other["token_ids"], plain["token_ids"]);
    EXPECT_LE(other["speculation"]["accepted_tokens"], other["speculation"]["proposed_tokens"]);
  }
}

TEST(Generate, SpeculationThatCannotBeHadIsRefused) {
  const std::string model = fixture("builder_llama_int4");
  const auto refused = [&](std::vector<std::string> more, int code, const std::string& message) {
    std::vector<std::string> arguments = {"generate", model, "-p", "a", "--max-tokens", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  };
  refused({"--dense", "--speculate", "lookup"}, 1, "the dense path runs one at a time");
  refused({"--dense", "--draft-model", model}, 1, "the dense path runs one at a time");
  refused({"--speculate", "off", "--draft-model", model}, 2, "it needs --speculate auto");
  refused({"--draft-model", model + "/nowhere"}, 1, "nowhere");
  const Outcome automatic = run_program({"generate", model, "-p", "a", "--max-tokens", "2", "--dense"});
  EXPECT_EQ(automatic.exit_code, 0) << automatic.err;
}

}  // namespace
}  // namespace genai::cli
