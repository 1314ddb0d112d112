// If, Loop and Scan: nodes that run subgraphs. Here: how they type. exec/control_flow.h runs them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace nxrt::passes {

bool is_control_flow(const Node& node);

// A subgraph attribute; throws Error{corrupt} when it is missing.
const std::shared_ptr<Graph>& subgraph(const Node& node, const std::string& attribute, const std::string& where);

// Types the subgraphs of `node` with what the surroundings know, and answers the types of its outputs.
std::vector<TensorType> infer_control_flow(const Graph& graph, const Node& node, const std::string& where);

// Dims that hold outside a subgraph or another iteration: the constant ones.
TensorType without_symbols(TensorType type);

}  // namespace nxrt::passes
