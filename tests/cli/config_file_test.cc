#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "cli/program.h"

namespace genai::cli {
namespace {

const std::string kModel = fixture("builder_llama_fp32");

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(ConfigFile, GivesOptionsAndTheCommandLineWins) {
  const ScratchFolder scratch;
  const std::string file = (scratch.path / "c.toml").string();
  put(file,
      "prompt = \"hello\"\nmax-tokens = 3\nignore-eos = true\nstop = [\"qqqq\", \"zzzz\"]\n[bench]\nrepeat = 7\n");
  const Outcome three = run_program({"generate", kModel, "--config", file});
  EXPECT_EQ(three.exit_code, kOk) << three.err;
  EXPECT_NE(three.err.find("answer 3 tokens"), std::string::npos) << three.err;
  const Outcome two = run_program({"generate", kModel, "--max-tokens", "2", "--config", file});
  EXPECT_NE(two.err.find("answer 2 tokens"), std::string::npos) << two.err;
  put(file, "[generate]\nprompt = \"hello\"\nmax-tokens = 4\nignore-eos = true\n[run]\nsystem = \"be brief\"\n");
  const Outcome four = run_program({"generate", "--config", file, kModel});
  EXPECT_NE(four.err.find("answer 4 tokens"), std::string::npos) << four.err;
}

TEST(ConfigFile, WrongKeysAndValuesAreUsageErrors) {
  const ScratchFolder scratch;
  const std::string file = (scratch.path / "c.toml").string();
  const std::vector<std::pair<std::string, std::string>> files = {
      {"temprature = 1\n", "temprature"},  {"temperature = \"hot\"\n", "'hot'"}, {"[generate]\nrepeat = 1\n", "repeat"},
      {"[nonsense]\nx = 1\n", "nonsense"}, {"config = \"c.toml\"\n", "config"},  {"\x01\x02 \xff\n", "error"}};
  for (const auto& [text, says] : files) {
    SCOPED_TRACE(text);
    put(file, text);
    const Outcome outcome = run_program({"generate", kModel, "-p", "x", "--config", file});
    EXPECT_EQ(outcome.exit_code, kUsageError);
    EXPECT_EQ(outcome.err.find("error: "), 0u) << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace genai::cli
