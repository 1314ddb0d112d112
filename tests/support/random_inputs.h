// Random tensors for a graph's inputs: symbols get small values, floats lie in [-2, 2], integers in [0, 3].
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/tensor.h"
#include "graph/graph.h"

namespace nxrt::test {

using Symbols = std::map<std::string, int64_t>;
// Symbols that are not given get 2, 3, 4, … in the order they appear.
std::map<std::string, Tensor> random_inputs(const Graph& graph, uint32_t seed, Symbols symbols = {});

}  // namespace nxrt::test
