#include <gtest/gtest.h>

#include "cli/program.h"

namespace genai::cli {
namespace {

const std::string kModel = fixture("builder_llama_fp32");

TEST(Run, AnswersEachPipedLine) {
  const Outcome outcome =
      run_program({"run", kModel, "--max-tokens", "4", "--ignore-eos", "--stats"}, "hello\nagain\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  size_t answers = 0;
  for (size_t at = outcome.err.find("answer 4 tokens"); at != std::string::npos;
       at = outcome.err.find("answer 4 tokens", at + 1))
    ++answers;
  EXPECT_EQ(answers, 2u) << outcome.err;
}

TEST(Run, TheSecondTurnReusesTheFirst) {
  const std::string long_text(60, 'a');
  const Outcome outcome =
      run_program({"run", kModel, "--max-tokens", "2", "--ignore-eos", "--stats"}, long_text + "\nb\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("(0 cached)"), std::string::npos) << outcome.err;
  const size_t second = outcome.err.rfind("prompt ");
  EXPECT_EQ(outcome.err.find("(0 cached)", second), std::string::npos) << outcome.err;
}

TEST(Run, Commands) {
  const Outcome outcome =
      run_program({"run", kModel, "--max-tokens", "2"},
                  "/help\n/stats\n/system be brief\n/reset\n/profile\n/nonsense\n/exit\nnot read\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("/system TEXT"), std::string::npos);
  EXPECT_NE(outcome.err.find("figures are on"), std::string::npos);
  EXPECT_NE(outcome.err.find("no command /nonsense"), std::string::npos);
  EXPECT_EQ(outcome.out, "");
}

TEST(Run, ManyLinesInOneTurn) {
  const Outcome outcome = run_program({"run", kModel, "--max-tokens", "2", "--ignore-eos", "--stats"},
                                      "one \\\ntwo\n\"\"\"three\nfour\"\"\"\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  size_t answers = 0;
  for (size_t at = outcome.err.find("answer 2 tokens"); at != std::string::npos;
       at = outcome.err.find("answer 2 tokens", at + 1))
    ++answers;
  EXPECT_EQ(answers, 2u) << outcome.err;
}

}  // namespace
}  // namespace genai::cli
