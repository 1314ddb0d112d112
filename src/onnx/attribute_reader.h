// AttributeProto → Attribute, bodies excepted: they need the names around them.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "onnx/read_context.h"

namespace nxrt::onnx {

struct AttributeFields {
  std::string name;
  std::string reference;      // the attribute of the function that gives the value; "" when the value is here
  std::optional<Bytes> body;  // the value is a graph
  Attribute value;            // otherwise
};

AttributeFields read_attribute(ReadContext& context, Bytes message, const std::string& at);

}  // namespace nxrt::onnx
