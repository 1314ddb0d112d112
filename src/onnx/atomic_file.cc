#include "onnx/atomic_file.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace nxrt::onnx {

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), partial_(path_) {
  partial_ += ".partial";
  errno = 0;
  out_.open(partial_, std::ios::binary | std::ios::trunc);
  if (!out_) fail();
}

AtomicFile::~AtomicFile() {
  if (partial_.empty()) return;
  out_.close();
  std::error_code ignored;
  std::filesystem::remove(partial_, ignored);
}

void AtomicFile::write(std::string_view bytes) {
  errno = 0;
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out_) fail();
  position_ += static_cast<int64_t>(bytes.size());
}

void AtomicFile::pad_to(int64_t offset) {
  if (offset > position_) write(std::string(static_cast<size_t>(offset - position_), '\0'));
}

void AtomicFile::commit() {
  errno = 0;
  out_.close();
  if (!out_) fail();
  std::error_code error;
  std::filesystem::rename(partial_, path_, error);
  if (error) throw Error(Code::io, "can't rename the finished file: " + error.message(), path_.string());
  partial_.clear();
}

void AtomicFile::fail() const {
  const std::string reason = errno ? std::strerror(errno) : "unknown reason";
  throw Error(Code::io, "can't write the file: " + reason, path_.string(), "check the folder and the free space");
}

}  // namespace nxrt::onnx
