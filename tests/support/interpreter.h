// Runs a graph node by node, each output in a buffer of its own: no passes, no plan, no views. What a session must
// agree with, and what the standard's own node tests run on.
//
// Errors: those of the operators; Error{not_found} for an operator without a definition or an input without a value;
//         Error{unsupported} for bodies (If, Loop, Scan).
#pragma once

#include <map>
#include <string>

#include "base/tensor.h"
#include "graph/graph.h"
#include "kernels/kernels.h"

namespace nxrt::test {

// Graph outputs by name.
std::map<std::string, Tensor> interpret(const Graph& graph, const std::map<std::string, Tensor>& inputs,
                                        const Kernels& cpu);

}  // namespace nxrt::test
