// Rewrites a stock decoder so that one packed row of tokens [1, T] of many sequences runs through it: each attention
// over past/present tensors, one node or written out in basic operators, becomes nxrt.PagedAttention over the block
// pool.
//
// Before: input_ids [B, S], attention_mask, past_key_values.N.* → logits [B, S, V], present.N.*
// After:  input_ids [1, T], position_ids [1, T] if the graph reads it, logit_rows [R] → logits [1, R, V]
// Masks, positions made from masks, and present outputs become dead and disappear.
//
// Threads: a pure function of its graph. Errors: none; a graph that does not fit is left untouched and the reason is
// told.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gen/decoder_ports.h"
#include "gen/kv_layout.h"
#include "graph/graph.h"

namespace genai {

struct PagedDecoder {
  std::unique_ptr<nxrt::Graph> graph;
  std::vector<KvHeads> layers;
  int vocab_size = 0;
  std::string input_ids, position_ids, logit_rows, logits;  // port names; position_ids empty when the graph reads none
  static constexpr const char* kRows = "T";                 // symbol: rows of the step
  static constexpr const char* kLogitRows = "R";            // symbol: rows that get logits
};

struct PagedRewrite {
  std::optional<PagedDecoder> decoder;
  std::string reason;  // why not, naming node and operator; empty when `decoder` is set
};

// Shapes must have been inferred (passes::infer_shapes). context_length: the most tokens a sequence will have; masks of
// written-out attention are compared up to there.
PagedRewrite rewrite_paged(const nxrt::Graph& graph, const DecoderPorts& ports, const std::string& where,
                           int64_t context_length);

}  // namespace genai
