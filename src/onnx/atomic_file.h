// A file that appears whole or not at all: written beside its place, then renamed.
//
//   AtomicFile file(path);   file.write(bytes);   file.commit();
//
// Errors: Error{io} naming the path. Without commit() nothing is left behind.
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

namespace nxrt::onnx {

class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void pad_to(int64_t offset);  // zeros up to this position
  int64_t position() const { return position_; }
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_, partial_;
  std::ofstream out_;
  int64_t position_ = 0;
};

}  // namespace nxrt::onnx
