// A folder that appears whole or not at all: made beside its final place, renamed by publish().
//
//   NewFolder folder("models/m", false);  write into folder.path();  folder.publish();
//
// Without publish() the destructor removes everything. What a killed process left behind is recognised (its name, and
// nobody holds its lock) and removed by the next NewFolder for the same target.
// Threads: one; several processes may make the same target, the first to publish wins.
// Errors:  Error{invalid_argument | io} naming the path.
#pragma once

#include <filesystem>

namespace genai {

class NewFolder {
 public:
  NewFolder(const std::filesystem::path& target, bool overwrite);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }  // where to write now
  void publish();

 private:
  void remove_leftovers() const;
  [[noreturn]] void fail(const char* doing) const;

  std::filesystem::path target_, path_;
  std::filesystem::path made_parent_;  // the outermost parent made for the target, if any
  bool overwrite_, published_ = false;
  int lock_ = -1;  // the folder itself, open and locked
};

}  // namespace genai
