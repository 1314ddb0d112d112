// The IR's rules, executable. Runs after the reader and, in debug and test builds, after each pass.
//
// A graph is well formed when: every name is unique; every node input is a graph input, a constant, a capture or the
// output of an earlier node in order(); producer links agree with nodes; no value has two producers; outputs exist;
// order() holds each alive node once; a constant's type agrees with its tensor; subgraphs are well formed.
#pragma once

#include <string>

#include "graph/graph.h"

namespace nxrt {

// Throws Error{corrupt} naming the first broken rule, the node or value, and `where` (a file, or a pass's name).
void verify(const Graph& graph, const std::string& where);

}  // namespace nxrt
