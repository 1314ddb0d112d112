// Finds attention written out in basic operators, as PyTorch's and Optimum's exporters leave it:
//
//   keys   = Concat(past_key, key)      [B, KV, P + S, D], repeated for the query heads by Unsqueeze, Expand, Reshape
//   scores = Add(MatMul(query, Transpose(keys)), mask), with factors anywhere before the Softmax
//   output = MatMul(Softmax(scores), values)
//
// The structure is followed from the cache's Concat forwards; how mask and factors come about does not matter: they are
// evaluated (gen/subgraph_probe.h).
// Threads: a pure function. Errors: none; the reason why a cache isn't read this way is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gen/decoder_ports.h"

namespace genai {

struct WrittenOutAttention {
  nxrt::ValueId query, key, value;               // [B, H, S, D], and the step's own [B, KV, S, D]
  nxrt::ValueId output;                          // [B, H, S, D]
  nxrt::ValueId mask;                            // what is added to the scores; kNoValue: nothing
  std::vector<nxrt::ValueId> factors, divisors;  // of the scores: one element each
  int heads = 0, kv_heads = 0, head_dim = 0;
  nxrt::NodeId last;  // makes `output`
};

struct WrittenOutMatch {
  std::optional<WrittenOutAttention> attention;
  std::string reason;  // naming the node where it stops
};

WrittenOutMatch match_written_out_attention(const nxrt::Graph& graph, const CachePorts& cache);

}  // namespace genai
