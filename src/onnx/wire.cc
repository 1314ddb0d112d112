#include "onnx/wire.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/error.h"

namespace nxrt::onnx {
namespace {

// Reads a varint; null when it is truncated or longer than 64 bits.
std::optional<uint64_t> read_varint(const std::byte*& at, const std::byte* end) {
  uint64_t value = 0;
  for (int shift = 0; shift < 70 && at != end; shift += 7) {
    const auto byte = static_cast<uint64_t>(*at++);
    if (shift == 63 && byte > 1) return {};
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return {};
}

uint64_t read_fixed(const std::byte*& at, int width) {
  uint64_t value = 0;
  std::memcpy(&value, at, static_cast<size_t>(width));
  at += width;
  return value;
}

int width_of(WireType type) { return type == WireType::fixed32 ? 4 : 8; }

}  // namespace

void WireSource::fail(const std::byte* position, const std::string& what) const {
  throw Error(Code::corrupt, what, place(where, fmt::format("byte {}", position - origin)),
              "the file is damaged or no ONNX model; copy or export it again");
}

std::optional<Field> WireReader::next() {
  if (at_ == end_) return {};
  Field field{.source = &source_, .position = at_};
  const uint64_t key = varint();
  if (key >> 3 == 0 || key >> 32 != 0) field.fail(fmt::format("field number {} is not valid", key >> 3));
  field.number = static_cast<uint32_t>(key >> 3);
  switch (key & 7) {
    case 0: field.value = varint(); break;
    case 1: field.value = fixed(8); break;
    case 5: field.value = fixed(4); break;
    case 2: {
      const uint64_t length = varint();
      const auto left = static_cast<uint64_t>(end_ - at_);
      if (length > left) field.fail(fmt::format("a field is {} bytes long, but {} are left", length, left));
      field.payload = {at_, static_cast<size_t>(length)};
      at_ += length;
      break;
    }
    default: field.fail(fmt::format("wire type {} is not supported", key & 7));
  }
  field.type = static_cast<WireType>(key & 7);
  return field;
}

uint64_t WireReader::varint() {
  const std::byte* start = at_;
  const auto value = read_varint(at_, end_);
  if (!value) source_.fail(start, "a number is truncated or longer than 64 bits");
  return *value;
}

uint64_t WireReader::fixed(int width) {
  if (end_ - at_ < width) source_.fail(at_, "a fixed-width number is truncated");
  return read_fixed(at_, width);
}

int64_t Field::i64() const {
  if (type != WireType::varint) fail(fmt::format("field {} is no integer", number));
  return static_cast<int64_t>(value);
}

int32_t Field::i32() const {
  const int64_t wide = i64();
  if (wide != static_cast<int32_t>(wide)) fail(fmt::format("field {} is {}, which does not fit 32 bits", number, wide));
  return static_cast<int32_t>(wide);
}

float Field::f32() const {
  if (type != WireType::fixed32) fail(fmt::format("field {} is no 32-bit float", number));
  return std::bit_cast<float>(static_cast<uint32_t>(value));
}

Bytes Field::bytes() const {
  if (type != WireType::bytes) fail(fmt::format("field {} is no message or string", number));
  return payload;
}

std::string_view Field::text() const {
  const Bytes raw = bytes();
  const std::string_view view(reinterpret_cast<const char*>(raw.data()), raw.size());
  if (!is_utf8(view)) fail(fmt::format("the string in field {} is not valid UTF-8", number));
  return view;
}

PackedReader::PackedReader(const Field& field, WireType element) : field_(field), element_(element) {
  if (field.type == element) {
    single_ = true;
    return;
  }
  const Bytes packed = field.bytes();
  at_ = packed.data();
  end_ = at_ + packed.size();
}

std::optional<uint64_t> PackedReader::next() {
  if (single_) {
    single_ = false;
    return field_.value;
  }
  if (at_ == end_) return {};
  if (element_ == WireType::varint) {
    const std::byte* start = at_;
    const auto value = read_varint(at_, end_);
    if (!value) field_.source->fail(start, "a number is truncated or longer than 64 bits");
    return value;
  }
  if (end_ - at_ < width_of(element_)) field_.source->fail(at_, "a fixed-width number is truncated");
  return read_fixed(at_, width_of(element_));
}

bool is_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i);
    const size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (length == 0) return false;
    uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      if (byte(i + k) >> 6 != 2) return false;
      code = code << 6 | (byte(i + k) & 0x3f);
    }
    static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
    i += length;
  }
  return true;
}

}  // namespace nxrt::onnx
