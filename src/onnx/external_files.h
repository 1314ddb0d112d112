// Tensors stored outside the model file: each file is mapped once and shared by all its tensors.
//
// Errors: Error naming the tensor when a path leaves the model's folder, a file is missing, a number is malformed, or
// the
//         range does not fit the file or the tensor.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "base/tensor.h"

namespace nxrt::onnx {

class ExternalFiles {
 public:
  // `folder` empty: the model has no folder, external data is refused.
  ExternalFiles(std::filesystem::path folder, int64_t max_bytes) : folder_(std::move(folder)), left_(max_bytes) {}

  // `entries`: TensorProto.external_data (location, offset, length). `at`: the tensor's place.
  Tensor tensor(DType dtype, const Shape& shape, const std::map<std::string, std::string>& entries,
                const std::string& at);

 private:
  std::shared_ptr<MappedFile> file(const std::string& location, const std::string& at);

  std::filesystem::path folder_;
  int64_t left_;
  std::map<std::string, std::shared_ptr<MappedFile>> by_location_;
  std::map<std::filesystem::path, std::shared_ptr<MappedFile>> by_path_;
};

// Shares `bytes` when they are aligned for the element type, else copies them.
Tensor share_or_copy(DType dtype, const Shape& shape, const void* bytes, std::shared_ptr<const void> owner);
bool is_aligned_for(DType dtype, const void* bytes);

}  // namespace nxrt::onnx
