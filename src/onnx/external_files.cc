#include "onnx/external_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/error.h"

namespace nxrt::onnx {
namespace {

using Entries = std::map<std::string, std::string>;

std::optional<int64_t> number_entry(const Entries& entries, const std::string& key, const std::string& at) {
  const auto entry = entries.find(key);
  if (entry == entries.end()) return {};
  const std::string& text = entry->second;
  int64_t value = -1;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || value < 0) {
    throw Error(Code::corrupt, fmt::format("external {} is '{}', expected a number of bytes", key, text), at,
                "export the model again");
  }
  return value;
}

}  // namespace

Tensor ExternalFiles::tensor(DType dtype, const Shape& shape, const Entries& entries, const std::string& at) {
  const auto location = entries.find("location");
  if (location == entries.end()) throw Error(Code::corrupt, "external data without a location", at);
  const int64_t expected = bytes_of(dtype, shape.count());
  const int64_t offset = number_entry(entries, "offset", at).value_or(0);
  const int64_t length = number_entry(entries, "length", at).value_or(expected);
  if (length != expected) {
    throw Error(Code::corrupt,
                fmt::format("external data is {} bytes long, but {}{} needs {}", length, name_of(dtype), shape.text(),
                            expected),
                at, "export the model again");
  }
  if (length > left_) {
    throw Error(Code::out_of_capacity, fmt::format("external data exceeds the limit by {} bytes", length - left_), at,
                "raise max_external_bytes");
  }
  left_ -= length;
  const auto mapped = file(location->second, at);
  const auto size = static_cast<int64_t>(mapped->bytes().size());
  if (offset > size || length > size - offset) {
    throw Error(Code::corrupt,
                fmt::format("external data at bytes {} + {} lies outside '{}', which has {}", offset, length,
                            location->second, size),
                at, "the data file is incomplete or of another model; copy it again");
  }
  return share_or_copy(dtype, shape, mapped->bytes().data() + offset, mapped);
}

std::shared_ptr<MappedFile> ExternalFiles::file(const std::string& location, const std::string& at) {
  auto& known = by_location_[location];
  if (known) return known;
  if (folder_.empty()) {
    throw Error(Code::unsupported, fmt::format("the tensor's bytes are in the file '{}'", location), at,
                "open the model by its path, so that the file beside it can be found");
  }
  const std::filesystem::path path = resolve_inside(folder_, location, at);
  auto& mapped = by_path_[path];
  if (!mapped) mapped = MappedFile::open(path);
  known = mapped;
  return known;
}

bool is_aligned_for(DType dtype, const void* bytes) {
  const auto alignment = static_cast<uintptr_t>(std::clamp(bits_of(dtype) / 8, 1, 8));
  return reinterpret_cast<uintptr_t>(bytes) % alignment == 0;
}

Tensor share_or_copy(DType dtype, const Shape& shape, const void* bytes, std::shared_ptr<const void> owner) {
  if (is_aligned_for(dtype, bytes)) return Tensor::borrow(dtype, shape, bytes, std::move(owner));
  Tensor copy = Tensor::uninitialized(dtype, shape);
  std::memcpy(copy.raw_mutable(), bytes, static_cast<size_t>(copy.bytes()));
  return copy;
}

}  // namespace nxrt::onnx
