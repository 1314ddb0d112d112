#include "convert/data_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

DataFile::DataFile(const std::filesystem::path& path)
    : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {
  if (fd_ < 0) fail("creating");
}

DataFile::~DataFile() {
  if (fd_ >= 0) ::close(fd_);
}

void DataFile::fail(const char* doing) const {
  const int error = errno;
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw Error(full ? Code::out_of_capacity : Code::io,
              fmt::format("{} the file failed: {}", doing, std::strerror(error)), path_.string(),
              full ? "free space on this disk, or choose a target on another one" : "");
}

int64_t DataFile::reserve(int64_t bytes) {
  const int64_t offset = (size_ + kAlignment - 1) / kAlignment * kAlignment;
  size_ = offset + bytes;
  return offset;
}

void DataFile::write(int64_t offset, const void* data, int64_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::pwrite(fd_, from, static_cast<size_t>(bytes), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("writing");
    from += done;
    offset += done;
    bytes -= done;
  }
}

void DataFile::finish() {
  if (::ftruncate(fd_, size_) != 0) fail("sizing");
  if (::fsync(fd_) != 0) fail("flushing");
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0) fail("closing");
}

void write_text_file(const std::filesystem::path& path, std::string_view text) {
  DataFile file(path);
  file.write(file.reserve(static_cast<int64_t>(text.size())), text.data(), static_cast<int64_t>(text.size()));
  file.finish();
}

}  // namespace genai
