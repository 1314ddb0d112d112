#include <gtest/gtest.h>

#include "base/version.h"
#include "cli/program.h"

namespace genai::cli {
namespace {

TEST(Version, NamesTheVersionAndTheMachine) {
  const Outcome outcome = run_program({"version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find(nxrt::kVersion), std::string::npos);
  EXPECT_NE(outcome.out.find("kernels:"), std::string::npos);
}

TEST(Version, UsageErrorsAreTwoAndHelpIsZero) {
  EXPECT_EQ(run_program({}).exit_code, 2);
  EXPECT_EQ(run_program({"no-such-command"}).exit_code, 2);
  EXPECT_EQ(run_program({"generate"}).exit_code, 2);
  EXPECT_EQ(run_program({"generate", "model", "--temperature", "-1"}).exit_code, 2);
  EXPECT_EQ(run_program({"generate", "model", "--prompt", "a", "--prompt-file", "b"}).exit_code, 2);
  EXPECT_EQ(run_program({"--help"}).exit_code, 0);
  for (const char* command : {"run", "generate", "import", "inspect", "check", "bench", "perplexity", "version"}) {
    const Outcome help = run_program({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_NE(help.out.find("Example:\n  onnx-genai " + std::string(command)), std::string::npos) << help.out;
  }
}

}  // namespace
}  // namespace genai::cli
