#include "serve/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace genai::serve {

void fail_on_file(const char* doing) {
  throw nxrt::Error(nxrt::Code::io, fmt::format("a session file can't be {}: {}", doing, std::strerror(errno)),
                    "--session-dir");
}

OutputFile::OutputFile(const std::filesystem::path& path, int flags)
    : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
  if (fd_ < 0) fail_on_file("opened");
}

OutputFile::~OutputFile() { ::close(fd_); }

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_on_file("written");
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace genai::serve
