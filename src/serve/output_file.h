// A file being written: the descriptor and what can go wrong with it.
//
//   OutputFile file(path, O_WRONLY | O_APPEND);
//   file.write(bytes);
//
// Threads: one at a time. Errors: Error{io} saying what couldn't be done, without the path.
#pragma once

#include <filesystem>
#include <string_view>

namespace genai::serve {

class OutputFile {
 public:
  OutputFile(const std::filesystem::path& path, int flags);  // made readable by its owner alone
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  int descriptor() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail_on_file(const char* doing);  // with errno's reason

}  // namespace genai::serve
