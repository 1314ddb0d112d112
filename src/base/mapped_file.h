// A read-only memory mapping of a whole regular file.
//
// Errors: open() throws Error{not_found | io | invalid_argument} naming the path (a directory, a device, no
// permission). Memory: pages are the kernel's; drop() tells it that a range will not be read soon.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace nxrt {

class MappedFile {
 public:
  static std::shared_ptr<MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  void drop(const void* begin, int64_t bytes) const noexcept;  // whole pages inside the range

 private:
  MappedFile() = default;
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

// `relative` resolved against `folder`, symlinks followed; throws Error{invalid_argument} when the result is not inside
// `folder`, Error{not_found} when it does not exist.
std::filesystem::path resolve_inside(const std::filesystem::path& folder, const std::string& relative,
                                     const std::string& at);

}  // namespace nxrt
