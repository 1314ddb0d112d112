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

}  // namespace
}  // namespace genai::cli
