// Types of values from the types of their producers' inputs.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/op.h"

namespace nxrt::passes {

// What `infer` sees of a node: its inputs' types and constants as they stand in the graph.
ops::NodeView view_of(const Graph& graph, const Node& node, const std::string& where);

// False when an input's rank or type is not known: the node can only be typed while running.
bool can_be_typed(const Graph& graph, const Node& node);

// An inferred type refined by a declared one: the element type, the rank and constant dims it leaves open. Symbols of a
// declaration are its author's names and carry no proof, so they are not taken over. A contradiction throws.
TensorType refine(TensorType inferred, const TensorType& declared, const std::string& value, const std::string& at);

// Types every value, in order, subgraphs included. Every operator must have a definition.
void infer_types(Graph& graph, const std::string& where);

}  // namespace nxrt::passes
