#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace nxrt {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    throw Error(Code::not_found, "no such file", path.string(), "check the path");
  }
  throw Error(Code::io, std::string("can't read the file: ") + std::strerror(error), path.string());
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

std::shared_ptr<MappedFile> MappedFile::open(const fs::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info{};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) fail(path, errno);
  if (!S_ISREG(info.st_mode)) {
    throw Error(Code::invalid_argument,
                S_ISDIR(info.st_mode) ? "this is a folder, expected a file" : "this is not a regular file",
                path.string(), "give the path of a file");
  }
  std::shared_ptr<MappedFile> mapped(new MappedFile());
  mapped->path_ = path;
  if (info.st_size > 0) {
    void* p = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (p == MAP_FAILED) fail(path, errno);
    mapped->bytes_ = {static_cast<const std::byte*>(p), static_cast<size_t>(info.st_size)};
  }
  return mapped;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::drop(const void* begin, int64_t bytes) const noexcept {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t from = (reinterpret_cast<uintptr_t>(begin) + page - 1) / page * page;
  const uintptr_t to = (reinterpret_cast<uintptr_t>(begin) + static_cast<uintptr_t>(bytes)) / page * page;
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
}

fs::path resolve_inside(const fs::path& folder, const std::string& relative, const std::string& at) {
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  const fs::path wanted = error || relative.empty() ? fs::path() : fs::weakly_canonical(root / relative, error);
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), wanted.begin(), wanted.end());
  if (error || relative.find('\0') != std::string::npos || end != root.end() || wanted == root) {
    throw Error(Code::invalid_argument, "the path '" + relative + "' does not stay inside the model's folder", at,
                "keep external data beside the model and refer to it by a relative path");
  }
  if (!fs::exists(wanted, error)) {
    throw Error(Code::not_found, "the file '" + relative + "' does not exist in the model's folder", at,
                "copy the file beside the model, or export the model again");
  }
  return wanted;
}

}  // namespace nxrt
