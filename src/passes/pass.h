// One rewrite of the graph. A pass's file `fuse_silu.cc` defines `bool fuse_silu(Graph&, const PassContext&)`, true
// when it changed something; CMake generates the table and fails when tests/golden/passes/fuse_silu.txt is missing.
//
// Rules: structural patterns only, never a model's name or size; a second run changes nothing; the graph stays well
// formed and its inputs and outputs keep names, order and types.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/op.h"

namespace nxrt::passes {

struct PassContext {
  std::string where;             // the model's file, for errors
  const Kernels* cpu = nullptr;  // constant folding runs kernels with it
  Workers* workers = nullptr;
  int64_t max_folded_bytes = 16 << 20;  // a larger folded result is not kept
};

using PassFunction = bool (*)(Graph& graph, const PassContext& context);
struct Pass {
  std::string_view name;
  PassFunction run;
};

struct PassReport {
  std::string pass;
  int nodes_before = 0, nodes_after = 0;
  bool changed = false;
  double milliseconds = 0;
};

struct PipelineOptions {
  bool verify = false;            // after each pass; the test builds set it
  std::vector<std::string> skip;  // pass names left out (debugging)
};

// Symbolic shape inference over the whole graph: types every value, propagates small integer tensors, throws
// Error{invalid_argument} on contradictions, and one Error{unsupported} naming *all* operators without a definition
// (op, domain, opset, first node, number of nodes).
void infer_shapes(Graph& graph, const std::string& where);

// Runs the passes in the order of pipeline.cc, repeated until nothing changes, re-inferring shapes as needed.
std::vector<PassReport> run_pipeline(Graph& graph, const PassContext& context, const PipelineOptions& options = {});

// One of the passes, for who needs it alone. Without a cpu in the context nothing runs: integer tensors that shape
// inference knows become constants.
bool fold_constants(Graph& graph, const PassContext& context);

}  // namespace nxrt::passes
