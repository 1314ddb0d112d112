// The messages of onnx.proto that the reader uses, by name: what protobuf's text format needs and its wire format
// doesn't.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nxrt::onnx {

enum class FieldKind : uint8_t { integer, f32, f64, text, message, attribute_type, data_location };

struct MessageSchema;
struct FieldSchema {
  std::string_view name;
  uint32_t number;
  FieldKind kind;
  const MessageSchema* message = nullptr;  // of FieldKind::message
};
struct MessageSchema {
  std::string_view name;
  std::span<const FieldSchema> fields;
  const FieldSchema* field(std::string_view field_name) const;  // null when there is none
};

extern const MessageSchema kModelProto;
// The number of an enumeration's value; -1 when unknown.
int enumerator(FieldKind kind, std::string_view name);

}  // namespace nxrt::onnx
