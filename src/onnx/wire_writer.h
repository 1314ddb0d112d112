// Appends fields in protobuf wire format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nxrt::onnx {

class WireWriter {
 public:
  void integer(uint32_t field, int64_t value);
  void f32(uint32_t field, float value);
  void f64(uint32_t field, double value);
  void text(uint32_t field, std::string_view bytes);  // strings, bytes and finished messages
  void text_unless_empty(uint32_t field, std::string_view bytes) {
    if (!bytes.empty()) text(field, bytes);
  }
  void message(uint32_t field, const WireWriter& inner) { text(field, inner.bytes_); }
  // The head of a field whose `length` bytes the caller appends with raw().
  void head(uint32_t field, uint64_t length);
  void raw(std::string_view bytes) { bytes_ += bytes; }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  void varint(uint64_t value);
  void fixed(uint64_t bits, int width);
  std::string bytes_;
};

}  // namespace nxrt::onnx
