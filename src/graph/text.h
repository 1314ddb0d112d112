// The graph text form: what pass tests, fixtures and `inspect --graph` use.
//
//   (f32[B, S, 64] x, i64[2] shape = {1, -1}) => (f32[B, S, 64] y) {
//     s = Sigmoid(x)
//     y = Mul(x, s)
//     z, = com.microsoft.Foo<axis = -1, name = "a", scales = [1.0, 2.0]>(x, , s)    // an omitted input is empty
//   }
//
// Constants: `f32[2] w = {1, 2}` in the input list (a value with braces is an initializer, not an input).
// Optional first line: `opset "" 17, "com.microsoft" 1`; the default is ai.onnx 21 and com.microsoft 1.
// Errors: parse throws Error{invalid_argument} with `where:line:column`, what was found and what was expected.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace nxrt {

std::unique_ptr<Graph> parse_graph(std::string_view text, const std::string& where);
std::string print_graph(const Graph& graph);  // large constants are printed as {…} and do not parse back

}  // namespace nxrt
