// Flipped, cut, overwritten and repeated bytes in each file of a package: a load or a request may end in an Error, in
// nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "gen/engine.h"
#include "gen/load_model.h"
#include "package/chat_prompt.h"

namespace genai {
namespace {

namespace fs = std::filesystem;

constexpr int kVariants = 60;  // of each file

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Damage {
 public:
  explicit Damage(uint32_t seed) : random_(seed) {}

  std::string of(std::string bytes) {
    switch (below(6)) {
      case 0: bytes.resize(below(bytes.size())); break;
      case 1: bytes.insert(below(bytes.size()), bytes.substr(below(bytes.size()), below(64))); break;
      case 2: bytes.erase(below(bytes.size()), 1 + below(16)); break;
      case 3: overwrite(bytes, std::string(1 + below(9), static_cast<char>(0xFF))); break;  // huge varints
      case 4:
        for (int i = 0; i < 8; ++i) flip(bytes);
        break;
      default: flip(bytes);
    }
    return bytes;
  }

 private:
  size_t below(size_t n) { return random_() % std::max<size_t>(n, 1); }
  void flip(std::string& bytes) { bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8)); }
  void overwrite(std::string& bytes, const std::string& with) { bytes.replace(below(bytes.size()), with.size(), with); }

  std::mt19937 random_;
};

void load_and_answer(const fs::path& folder, bool dense) {
  LoadedModel model = load_model(folder, {.threads = 1, .dense = dense});
  const std::string prompt = ChatPrompt(model.spec).render(Json::array({{{"role", "user"}, {"content", "hi"}}}), {});
  Request request;
  request.prompt = model.tokenizer->encode(prompt);
  request.max_tokens = 2;
  EngineOptions options;
  options.kv_bytes = 1 << 20;
  Engine engine(std::move(model.decoder), model.tokenizer, options);
  Ticket ticket = engine.submit(std::move(request));
  while (ticket.next()) {
  }
}

class DamagedFile : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "damaged_model_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::copy(NXRT_SOURCE_DIR "/tests/fixtures/builder_llama_int4", folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_P(DamagedFile, EndsInAnErrorAtWorst) {
  const std::string whole = bytes_of(folder_ / GetParam());
  ASSERT_FALSE(whole.empty());
  int refused = 0;
  for (uint32_t seed = 0; seed < kVariants; ++seed) {
    SCOPED_TRACE(seed);
    std::ofstream(folder_ / GetParam(), std::ios::binary) << Damage(seed).of(whole);
    try {
      load_and_answer(folder_, seed % 4 == 0);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), Code::internal) << error.text();
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Robustness, DamagedFile,
                         testing::Values("model.onnx", "model.onnx.data", "genai_config.json", "tokenizer.json",
                                         "tokenizer_config.json", "chat_template.jinja"),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
                           return name;
                         });

}  // namespace
}  // namespace genai
