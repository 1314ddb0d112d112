#include "onnx/wire_writer.h"

#include <bit>

#include "onnx/wire.h"

namespace nxrt::onnx {
namespace {
uint64_t key(uint32_t field, WireType type) { return uint64_t{field} << 3 | static_cast<uint64_t>(type); }
}  // namespace

void WireWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void WireWriter::fixed(uint64_t bits, int width) {
  for (int i = 0; i < width; ++i) bytes_ += static_cast<char>(bits >> (8 * i));
}

void WireWriter::integer(uint32_t field, int64_t value) {
  varint(key(field, WireType::varint));
  varint(static_cast<uint64_t>(value));
}

void WireWriter::f32(uint32_t field, float value) {
  varint(key(field, WireType::fixed32));
  fixed(std::bit_cast<uint32_t>(value), 4);
}

void WireWriter::f64(uint32_t field, double value) {
  varint(key(field, WireType::fixed64));
  fixed(std::bit_cast<uint64_t>(value), 8);
}

void WireWriter::head(uint32_t field, uint64_t length) {
  varint(key(field, WireType::bytes));
  varint(length);
}

void WireWriter::text(uint32_t field, std::string_view bytes) {
  head(field, bytes.size());
  bytes_ += bytes;
}

}  // namespace nxrt::onnx
