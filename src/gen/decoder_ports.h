// Which inputs and outputs of a decoder graph play which role.
//
// Declared names come first (the package says them), well-known names second, unambiguous shapes last; a role that is
// declared but missing, or that nothing fits, is an Error{invalid_argument} naming the graph's ports.
// Threads: a pure function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gen/kv_layout.h"
#include "graph/graph.h"
#include "package/model_spec.h"

namespace genai {

struct CachePorts {  // one layer's keys and values, [B, kv_heads, S, head_dim]
  nxrt::ValueId past_key, past_value, present_key, present_value;
};

struct DecoderPorts {
  nxrt::ValueId input_ids;       // integer [B, S]
  nxrt::ValueId attention_mask;  // kNoValue: the graph has none
  nxrt::ValueId position_ids;    // kNoValue: the graph has none
  nxrt::ValueId logits;          // float [B, S, V]
  std::vector<CachePorts> layers;
};

DecoderPorts find_decoder_ports(const nxrt::Graph& graph, const DecoderRoles& declared, const std::string& where);

// Heads and head size of a layer: from the cache's shape, and where that is symbolic from the attention that reads it.
// Shapes must have been inferred.
std::optional<KvHeads> cache_heads(const nxrt::Graph& graph, const CachePorts& cache);

}  // namespace genai
