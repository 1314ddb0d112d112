#include "convert/new_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "convert/data_file.h"
#include "convert/fixtures.h"

namespace genai {
namespace {

namespace fs = std::filesystem;
using nxrt::Code;
using test::error_of;
using test::read_file;
using test::TemporaryFolder;

TEST(NewFolder, AppearsWhenPublished) {
  TemporaryFolder top;
  const fs::path target = top.path() / "deep/er/m";
  {
    NewFolder folder(target, false);
    write_text_file(folder.path() / "a", "x");
    EXPECT_FALSE(fs::exists(target));
    folder.publish();
  }
  EXPECT_EQ(read_file(target / "a"), "x");
  EXPECT_EQ(std::distance(fs::directory_iterator(target.parent_path()), {}), 1);
}

TEST(NewFolder, LeavesNothingUnpublished) {
  TemporaryFolder top;
  {
    NewFolder folder(top.path() / "deep/er/m/", false);
    write_text_file(folder.path() / "a", "x");
  }
  EXPECT_EQ(top.entries(), 0u);
}

TEST(NewFolder, RefusesAnExistingTargetUnlessToldSo) {
  TemporaryFolder top;
  const fs::path target = top.path() / "m";
  fs::create_directory(target);
  write_text_file(target / "old", "1");
  EXPECT_EQ(error_of([&] { NewFolder(target, false); }).message(), "the target exists already");
  {
    NewFolder folder(target, true);
    write_text_file(folder.path() / "new", "2");
    EXPECT_TRUE(fs::exists(target / "old"));
    folder.publish();
  }
  EXPECT_FALSE(fs::exists(target / "old"));
  EXPECT_EQ(read_file(target / "new"), "2");
  EXPECT_EQ(top.entries(), 1u);
  write_text_file(top.path() / "file", "");
  EXPECT_EQ(error_of([&] { NewFolder(top.path() / "file", true); }).code(), Code::invalid_argument);
}

TEST(NewFolder, RemovesWhatAKilledImportLeftAndNothingElse) {
  TemporaryFolder top;
  const fs::path dead = top.path() / ".m.importing-abcdef", alive = top.path() / ".m.importing-ghijkl",
                 other = top.path() / ".n.importing-abcdef";
  for (const fs::path& path : {dead, alive, other}) {
    fs::create_directory(path);
    write_text_file(path / "x", "");
  }
  const int lock = ::open(alive.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  {
    NewFolder folder(top.path() / "m", false);
  }
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive));
  EXPECT_TRUE(fs::exists(other));
  ::close(lock);
}

TEST(DataFile, PlacesAreAlignedAndHolesAreZero) {
  TemporaryFolder top;
  DataFile file(top.path() / "d");
  EXPECT_EQ(file.reserve(3), 0);
  EXPECT_EQ(file.reserve(1), 64);
  file.write(64, "z", 1);
  file.finish();
  EXPECT_EQ(read_file(top.path() / "d"), std::string(64, '\0') + "z");
  EXPECT_EQ(error_of([&] { DataFile again(top.path() / "d"); }).at(), (top.path() / "d").string());
}

}  // namespace
}  // namespace genai
