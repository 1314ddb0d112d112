// A file that is written piece by piece at reserved places: model.onnx.data.
//
// Threads: one. Errors: Error{io | out_of_capacity} naming the path (disk full, file size limit, …).
// Memory:  nothing is buffered here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace genai {

class DataFile {
 public:
  static constexpr int64_t kAlignment = 64;

  explicit DataFile(const std::filesystem::path& path);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  int64_t reserve(int64_t bytes);  // the offset of a new aligned place
  void write(int64_t offset, const void* data, int64_t bytes);
  void finish();  // everything reserved exists and is on disk
  int64_t size() const { return size_; }

 private:
  [[noreturn]] void fail(const char* doing) const;

  std::filesystem::path path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

void write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace genai
