#include <gtest/gtest.h>

#include <fstream>

#include "cli/program.h"

namespace genai::cli {
namespace fs = std::filesystem;
namespace {

TEST(Import, RefusesWhatIsNoModelAndLeavesNothing) {
  const ScratchFolder folder;
  std::ofstream(folder.path / "empty.gguf");
  std::ofstream(folder.path / "text.gguf") << "this is not a model";
  for (const char* name : {"empty.gguf", "text.gguf", "missing.gguf"}) {
    const Outcome outcome =
        run_program({"import", (folder.path / name).string(), "-o", (folder.path / "model").string()});
    EXPECT_EQ(outcome.exit_code, 1) << name;
    EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(folder.path / "model"));
  }
}

TEST(Import, MakesRandomModelsThatRun) {
  const ScratchFolder folder;
  const std::string model = (folder.path / "m").string(), shape = (folder.path / "config.json").string();
  std::ofstream(shape) << R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 300, "max_position_embeddings": 128})";
  const Outcome made = run_program({"import", "--random-weights", shape, "--seed", "3", "-o", model});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out, model + "\n");
  EXPECT_NE(made.err.find("random"), std::string::npos);
  const Outcome said = run_program({"generate", model, "--prompt", "hello", "--max-tokens", "5", "--temperature", "0"});
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_EQ(run_program({"bench", model, "--prompt-tokens", "9", "--decode-tokens", "3", "--repeat", "1"}).exit_code,
            0);
}

TEST(Import, NeedsASourceOrAShape) {
  const Outcome neither = run_program({"import", "-o", "nowhere"});
  EXPECT_EQ(neither.exit_code, 2);
  EXPECT_NE(neither.err.find("SOURCE or --random-weights"), std::string::npos) << neither.err;
  EXPECT_EQ(run_program({"import", "a.gguf", "--random-weights", "1B", "-o", "nowhere"}).exit_code, 2);
  EXPECT_EQ(run_program({"import", "a.gguf", "--seed", "1", "-o", "nowhere"}).exit_code, 2);
}

}  // namespace
}  // namespace genai::cli
