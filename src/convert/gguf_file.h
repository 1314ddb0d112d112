// A GGUF file, version 2 or 3: typed metadata and tensors, all pointing into the mapped bytes.
//
//   auto file = GgufFile::open("model.gguf");
//   std::string_view architecture = file->text("general.architecture").value();
//   const GgufTensor& embedding = file->require("token_embd.weight");
//
// Threads: immutable after open. Errors: Error{corrupt | unsupported} naming file, key or tensor, and byte offset.
// Every count, length, offset and product is checked against the bytes there are, so hostile files cannot make it read
// outside them or allocate more than a small multiple of their size. Memory:  the file stays mapped while the object
// lives. Source: the GGUF specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/ggml_type.h"

namespace genai {

struct GgufTensor {
  std::string name;
  GgmlType type = GgmlType::f32;
  std::vector<int64_t> dims;  // [0] runs fastest: a matrix of N rows of K is {K, N}
  std::span<const std::byte> data;

  int64_t columns() const { return dims.empty() ? 1 : dims[0]; }  // K
  int64_t rows() const;                                           // the product of the other dims
  int64_t count() const { return columns() * rows(); }
};

class GgufFile {
 public:
  static std::shared_ptr<const GgufFile> open(const std::filesystem::path& path);
  // `bytes` stay alive through `owner`, or by the caller's care; `where` names them in errors.
  static std::shared_ptr<const GgufFile> parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                               const std::string& where);

  // Absent: nullopt or empty. Present with another type: Error{corrupt}. Any integer type is an integer.
  bool has(const std::string& key) const { return values_.contains(key); }
  std::optional<int64_t> integer(const std::string& key) const;
  std::optional<double> real(const std::string& key) const;  // an integer counts
  std::optional<bool> boolean(const std::string& key) const;
  std::optional<std::string_view> text(const std::string& key) const;
  std::vector<std::string_view> texts(const std::string& key) const;
  std::vector<int64_t> integers(const std::string& key) const;
  std::vector<float> reals(const std::string& key) const;

  int64_t require_integer(const std::string& key, int64_t lowest, int64_t highest) const;

  const std::vector<GgufTensor>& tensors() const { return tensors_; }  // in file order
  const GgufTensor* find(const std::string& name) const;
  const GgufTensor& require(const std::string& name) const;

  int64_t bytes() const { return bytes_; }  // of the whole file
  const std::string& where() const { return where_; }
  std::string place_of_key(const std::string& key) const;
  std::string place_of_tensor(const std::string& name) const;

 private:
  friend class GgufParser;
  struct Value {
    uint32_t type = 0;          // GGUF's number
    uint32_t element_type = 0;  // of an array
    uint64_t count = 1;         // of an array
    uint64_t offset = 0;        // of the first byte, in the file
    std::span<const std::byte> bytes;
  };
  const Value* find_value(const std::string& key, bool array, bool (*accepts)(uint32_t), const char* expected) const;

  std::string where_;
  int64_t bytes_ = 0;
  std::shared_ptr<const void> owner_;
  std::map<std::string, Value> values_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string, size_t> by_name_;
};

}  // namespace genai
