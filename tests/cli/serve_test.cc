#include <gtest/gtest.h>

#include "cli/program.h"

namespace genai::cli {
namespace {

const std::string kModel = fixture("builder_llama_fp32");

TEST(Serve, StopsOnASignal) {
  const Outcome outcome = interrupt_program({"serve", kModel, "--port", "0"}, "listening on http://127.0.0.1:", 1);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("stopped"), std::string::npos);
}

TEST(Serve, RefusesToBeOpenToEveryoneByAccident) {
  const Outcome outcome = run_program({"serve", kModel, "--host", "0.0.0.0", "--port", "0"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("--insecure"), std::string::npos) << outcome.err;
}

TEST(Serve, NamesWhatIsWrong) {
  EXPECT_EQ(run_program({"serve"}).exit_code, 2);
  EXPECT_NE(run_program({"serve", "--model", "x"}).err.find("NAME=DIR"), std::string::npos);
  EXPECT_NE(run_program({"serve", kModel, "--tls-cert", "a.pem"}).err.find("--tls-key"), std::string::npos);
  EXPECT_NE(run_program({"serve", kModel, "--speculate", "x"}).err.find("--speculate"), std::string::npos);
  EXPECT_NE(run_program({"serve", kModel, "--max-key-requests", "2"}).err.find("--api-key-file"), std::string::npos);
  const Outcome missing = run_program({"serve", "/nowhere", "--port", "0"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("/nowhere"), std::string::npos) << missing.err;
  const Outcome taken = run_program({"serve", kModel, "--api-key-file", "/nowhere", "--port", "0"});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_NE(taken.err.find("--api-key-file"), std::string::npos) << taken.err;
}

}  // namespace
}  // namespace genai::cli
