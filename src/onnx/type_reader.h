// ValueInfoProto → name and type.
#pragma once

#include <string>

#include "graph/tensor_type.h"
#include "onnx/read_context.h"

namespace nxrt::onnx {

struct NamedType {
  std::string_view name;
  TensorType type;        // empty when the value is no tensor
  std::string_view kind;  // "tensor", "sequence", "map", "optional", "sparse tensor"; "" when the file does not say
};

NamedType read_value_info(ReadContext& context, Bytes message, const std::string& at);

// "past + 1" is a polynomial; anything else, "batch-size" included, is one symbol.
Dim dim_of_param(std::string_view param);

}  // namespace nxrt::onnx
