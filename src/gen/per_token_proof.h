// Proves that a graph works token by token: no node but PagedAttention lets one row of the step see another.
//
// A small dataflow analysis labels every value: constant, metadata of the step (its number of rows), rows along one
// axis (entry i depends on token i alone), or mixed. The graph is per-token when its output is rows along `axis`.
// Threads: a pure function. Errors: none; what can't be proven is told with the node that breaks it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace genai {

struct TokenInput {
  nxrt::ValueId value;
  int axis;  // of the tokens
};

// Empty when `output` is proven to be rows along `axis`; else the reason. Shapes must have been inferred; the token
// axis of every value is recognised by the dim symbol `rows`.
std::optional<std::string> why_not_per_token(const nxrt::Graph& graph, const std::vector<TokenInput>& tokens,
                                             nxrt::ValueId output, int axis, const std::string& rows);

}  // namespace genai
