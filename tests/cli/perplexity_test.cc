#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace genai::cli {
namespace {

TEST(Perplexity, IsTheMeanOverEveryWindow) {
  const ScratchFolder folder;
  std::ofstream(folder.path / "text") << "hello hello world, hello again and again and again";
  const Outcome outcome = run_program({"perplexity", fixture("builder_llama_fp32"), "--file",
                                       (folder.path / "text").string(), "--context", "16", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto object = nlohmann::json::parse(outcome.out);
  EXPECT_GT(object["tokens"], 10);
  EXPECT_NEAR(object["perplexity"].get<double>(),
              std::exp(object["nll"].get<double>() / object["tokens"].get<double>()), 1e-6);
  EXPECT_GT(object["perplexity"], 1);
}

TEST(Perplexity, RefusesAnEmptyText) {
  const ScratchFolder folder;
  std::ofstream(folder.path / "text");
  const Outcome outcome =
      run_program({"perplexity", fixture("builder_llama_fp32"), "--file", (folder.path / "text").string()});
  EXPECT_EQ(outcome.exit_code, 1);
}

}  // namespace
}  // namespace genai::cli
