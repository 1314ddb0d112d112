// Protobuf's text format of an ONNX model → its wire format, so that there is one reader of models.
//
// Errors: Error{corrupt} at `where:line:column`: what was found and what was expected.
#pragma once

#include <string>
#include <string_view>

namespace nxrt::onnx {

std::string textproto_to_wire(std::string_view text, const std::string& where);

}  // namespace nxrt::onnx
