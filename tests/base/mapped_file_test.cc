#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"

namespace nxrt {
namespace fs = std::filesystem;
namespace {

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest() : folder_(fs::temp_directory_path() / ("nxrt_mapped_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "model");
    std::ofstream(folder_ / "model" / "weights") << "hello";
    std::ofstream(folder_ / "secret") << "secret";
  }
  ~MappedFileTest() override { fs::remove_all(folder_); }
  Code refused(const std::string& relative) {
    try {
      resolve_inside(folder_ / "model", relative, "model.onnx");
    } catch (const Error& error) {
      EXPECT_EQ(error.at(), "model.onnx");
      return error.code();
    }
    ADD_FAILURE() << relative << " was accepted";
    return Code::internal;
  }
  fs::path folder_;
};

TEST_F(MappedFileTest, MapsTheBytes) {
  const auto file = MappedFile::open(folder_ / "model" / "weights");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()), "hello");
  file->drop(file->bytes().data(), 5);
}

TEST_F(MappedFileTest, AnEmptyFileIsNoBytes) {
  std::ofstream(folder_ / "empty");
  EXPECT_TRUE(MappedFile::open(folder_ / "empty")->bytes().empty());
}

TEST_F(MappedFileTest, RefusesFoldersDevicesAndMissingFiles) {
  EXPECT_THROW(MappedFile::open(folder_), Error);
  EXPECT_THROW(MappedFile::open("/dev/zero"), Error);
  EXPECT_THROW(MappedFile::open(folder_ / "none"), Error);
}

TEST_F(MappedFileTest, ResolvedPathsStayInsideTheFolder) {
  EXPECT_EQ(resolve_inside(folder_ / "model", "weights", ""), fs::canonical(folder_ / "model" / "weights"));
  EXPECT_EQ(resolve_inside(folder_ / "model", "./x/../weights", ""), fs::canonical(folder_ / "model" / "weights"));
  fs::create_symlink("../secret", folder_ / "model" / "link");
  fs::create_symlink("weights", folder_ / "model" / "inner");
  EXPECT_EQ(refused("link"), Code::invalid_argument);
  EXPECT_EQ(refused("../secret"), Code::invalid_argument);
  EXPECT_EQ(refused("/etc/passwd"), Code::invalid_argument);
  EXPECT_EQ(refused(""), Code::invalid_argument);
  EXPECT_EQ(refused("."), Code::invalid_argument);
  EXPECT_EQ(refused(std::string("weights\0x", 9)), Code::invalid_argument);
  EXPECT_EQ(refused("missing"), Code::not_found);
  EXPECT_NO_THROW(resolve_inside(folder_ / "model", "inner", ""));
}

}  // namespace
}  // namespace nxrt
