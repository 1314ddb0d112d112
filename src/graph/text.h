// The graph text form: what pass tests, fixtures and `inspect --graph` use.
//
//   opset "" 17, "com.microsoft" 1                                             // optional; default 21 and 1
//   name "decoder"   metadata "author" "me"                                    // optional
//   (f32[B, S, 64] x, i64[2] shape = {1, -1}) => (f32[B, S, 64] y) {
//     s = Sigmoid(x)
//     y = Mul(x, s) as "/mlp/mul"                                              // the node's name; default: first
//     output's z, = com.microsoft.Foo<axis = -1, mode = "a", scales = [1.0, 2.0]>(x, , s) // an omitted input or output
//     is empty r = If<then_branch = () => (s) {}, else_branch = () => (x) {}>(c)        // bodies see the values around
//     them
//   }
//
// Constants: `f32[2] w = {1, 2}` in the input list (a value with braces is an initializer, not an input);
// `f32[64] w = {0.5...}` repeats the last element. As an attribute: `value = f32[2] {1, 2}`.
// Types: `f32` has no known rank, `none` no known element type; a produced value may have one: `f32[B] y = Relu(x)`.
// `Relu@13(x)` is a node of another opset than the graph imports; `floats[]` and `strings[]` are empty lists; `^a = b`
// in the input list of a body makes `b` of the surroundings known as `a`. Errors: parse throws Error{invalid_argument}
// with `where:line:column`, what was found and what was expected.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace nxrt {

std::unique_ptr<Graph> parse_graph(std::string_view text, const std::string& where);
struct PrintOptions {
  bool types = false;  // of the values that nodes produce
  bool node_names = true;
  int64_t max_elements = 64;  // larger tensors are printed as {…} and do not parse back
};
std::string print_graph(const Graph& graph, const PrintOptions& options = {});

}  // namespace nxrt
