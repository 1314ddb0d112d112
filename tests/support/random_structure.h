// Random well-formed graphs for properties of readers, writers and rewrites: any element type, dims as polynomials,
// omitted inputs and outputs, every kind of attribute, bodies that capture. They mean nothing: operators are made up
// (support/random_graph.h makes graphs that run).
#pragma once

#include <rapidcheck.h>

#include <memory>

#include "graph/graph.h"

namespace nxrt::test {

// To be called inside a property. `depth`: of nested bodies that may follow.
std::unique_ptr<Graph> random_structure(int depth = 2);

}  // namespace nxrt::test
