// How many positions a graph's rotary tables have rows for. Past them a model has no meaning, whatever its
// configuration says; the kernels would repeat the last row.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace genai {

std::optional<int64_t> rotary_reach(const nxrt::Graph& graph);  // the shortest table's rows; absent: no table

}  // namespace genai
