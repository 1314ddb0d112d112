#include "convert/new_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;
namespace fs = std::filesystem;

namespace {

std::string leftover_prefix(const fs::path& target) { return "." + target.filename().string() + ".importing-"; }

fs::path absolute_without_slash(const fs::path& path) {
  if (path.empty())
    throw Error(Code::invalid_argument, "the path is empty, expected a folder's", "the target", "name a new folder");
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (error) throw Error(Code::io, "the current folder can't be found: " + error.message(), path.string());
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

int open_and_lock(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return -1;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return -1;
}

bool sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  return done;
}

// The outermost folder of `path` that does not exist yet.
fs::path outermost_missing(fs::path path) {
  fs::path missing;
  std::error_code ignored;
  for (; !path.empty() && !fs::exists(path, ignored); path = path.parent_path()) missing = path;
  return missing;
}

}  // namespace

NewFolder::NewFolder(const fs::path& target, bool overwrite)
    : target_(absolute_without_slash(target)), overwrite_(overwrite) {
  std::error_code error;
  if (target_.filename().empty()) throw Error(Code::invalid_argument, "the target is the root folder", target.string());
  const fs::file_status status = fs::symlink_status(target_, error);
  if (fs::exists(status) && (!overwrite || !fs::is_directory(status))) {
    throw Error(Code::invalid_argument, overwrite ? "the target exists and is no folder" : "the target exists already",
                target_.string(),
                overwrite ? "choose another target" : "choose another target, or allow overwriting it");
  }
  made_parent_ = outermost_missing(target_.parent_path());
  fs::create_directories(target_.parent_path(), error);
  if (error) throw Error(Code::io, "creating the folder failed: " + error.message(), target_.parent_path().string());
  remove_leftovers();
  std::string pattern = (target_.parent_path() / (leftover_prefix(target_) + "XXXXXX")).string();
  if (!::mkdtemp(pattern.data())) fail("creating a folder beside");
  path_ = pattern;
  lock_ = open_and_lock(path_);
  if (lock_ < 0 || ::fchmod(lock_, 0755) != 0) fail("locking a folder beside");
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);  // after publish(): what was there before, if anything
  if (lock_ >= 0) ::close(lock_);
  if (published_ || made_parent_.empty()) return;
  // Only folders that are still empty go: remove() refuses others.
  for (fs::path folder = target_.parent_path(); fs::remove(folder, ignored) && folder != made_parent_;) {
    folder = folder.parent_path();
  }
}

void NewFolder::fail(const char* doing) const {
  throw Error(Code::io, fmt::format("{} the target failed: {}", doing, std::strerror(errno)), target_.string(),
              "check that the folder can be written");
}

void NewFolder::remove_leftovers() const {
  std::error_code ignored;
  const std::string prefix = leftover_prefix(target_);
  for (const fs::directory_entry& entry : fs::directory_iterator(target_.parent_path(), ignored)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const int lock = open_and_lock(entry.path());  // fails while the process that makes it lives
    if (lock < 0) continue;
    fs::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

void NewFolder::publish() {
  if (!sync_folder(path_)) fail("flushing");
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0) {
    path_.clear();
  } else if (errno != EEXIST || !overwrite_) {
    fail("renaming to");
  } else if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
    fail("exchanging with");
  }
  published_ = true;
  if (!sync_folder(target_.parent_path())) fail("flushing");
}

}  // namespace genai
