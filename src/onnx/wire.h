// Protobuf wire format, read in place: a message is a sequence of fields, each a number and a payload.
//
//   for (WireReader in(source, bytes); const auto field = in.next();) {
//     if (field->number == 1) name = field->text();
//   }
//
// Errors: Error{corrupt} at "model.onnx > byte 123" for truncated or overlong payloads, groups, and payloads of another
//         kind than asked for. Fields nobody asks for are skipped.
// Memory: none; payloads are spans of the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nxrt::onnx {

using Bytes = std::span<const std::byte>;

// The whole input: what byte positions in errors count from.
struct WireSource {
  std::string where;
  const std::byte* origin = nullptr;
  [[noreturn]] void fail(const std::byte* position, const std::string& what) const;
};

enum class WireType : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  const WireSource* source = nullptr;
  const std::byte* position = nullptr;
  uint32_t number = 0;
  WireType type = WireType::varint;
  uint64_t value = 0;  // of varint, fixed64 and fixed32
  Bytes payload;       // of bytes

  int64_t i64() const;
  int32_t i32() const;
  float f32() const;
  Bytes bytes() const;
  std::string_view text() const;  // checked to be UTF-8
  [[noreturn]] void fail(const std::string& what) const { source->fail(position, what); }
};

class WireReader {
 public:
  WireReader(const WireSource& source, Bytes bytes)
      : source_(source), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  std::optional<Field> next();

 private:
  uint64_t varint();
  uint64_t fixed(int width);

  const WireSource& source_;
  const std::byte *at_, *end_;
};

// The elements of one occurrence of a repeated scalar field, packed or not; `next` is empty at its end.
class PackedReader {
 public:
  PackedReader(const Field& field, WireType element);
  std::optional<uint64_t> next();

 private:
  const Field& field_;
  WireType element_;
  const std::byte *at_ = nullptr, *end_ = nullptr;
  bool single_ = false;
};

// Calls visit(uint64_t bits) for each of them.
template <class F>
void each_scalar(const Field& field, WireType element, F&& visit) {
  PackedReader elements(field, element);
  while (const auto bits = elements.next()) visit(*bits);
}

bool is_utf8(std::string_view text);

}  // namespace nxrt::onnx
