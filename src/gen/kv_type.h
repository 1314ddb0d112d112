// The element type of the KV cache: the user's word, or what suits the package's weights.
//
//   nxrt::DType type = kv_type_named("auto").value_or(kv_type_for(graph));
//
// Threads: pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "base/dtype.h"
#include "graph/graph.h"

namespace genai {

// "f32", "f16"; nothing for "auto". Throws Error{invalid_argument} for another word.
std::optional<nxrt::DType> kv_type_named(std::string_view name);

// f32 for a decoder whose weights are all float32; f16 for one with narrower weights, whose own rounding is larger.
nxrt::DType kv_type_for(const nxrt::Graph& graph);

}  // namespace genai
