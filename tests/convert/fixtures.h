// The tiny GGUF files, their goldens, and small helpers of the import tests.
#pragma once

#include <gtest/gtest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "convert/gguf_file.h"

namespace genai::test {

inline std::filesystem::path tiny_gguf(const std::string& name) {
  return std::filesystem::path(NXRT_SOURCE_DIR) / "tests/fixtures/gguf" / (name + ".gguf");
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline nlohmann::json golden(const std::string& name) {
  return nlohmann::json::parse(read_file(std::filesystem::path(NXRT_SOURCE_DIR) / "tests/golden/convert" / name),
                               nullptr, false);
}

inline std::vector<std::byte> to_bytes(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::vector<std::byte> from_hex(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// A folder of this test that goes away with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    // In memory where there is such a place: the imports of these tests flush hundreds of folders.
    std::error_code ignored;
    const bool memory = std::filesystem::is_directory("/dev/shm", ignored);
    std::string pattern = (memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/nxrt-test-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  size_t entries() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {})); }

 private:
  std::filesystem::path path_;
};

// The Error that `action` throws; fails when it throws none.
template <class Action>
nxrt::Error error_of(const Action& action) {
  try {
    action();
  } catch (const nxrt::Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return nxrt::Error(nxrt::Code::internal, "nothing was thrown");
}

}  // namespace genai::test
