#include <algorithm>
#include <array>
#include <chrono>

#include "graph/verifier.h"
#include "passes/pass.h"
#include "passes/table.h"

namespace nxrt::passes {
namespace {

// What simplifies comes before what recognises patterns, so that patterns have one form to match. Half weights come
// before constants are folded, which would widen them. Products are merged when what follows each alone (a bias, an
// activation) has been taken in. Dead code last, so that each round ends with live nodes only.
constexpr std::array<std::string_view, 14> kOrder = {
    "fuse_half_weights",  "fold_constants",      "eliminate_identity",
    "fold_casts",         "fold_transposes",     "eliminate_common_subexpressions",
    "fuse_rms_norm",      "fuse_gelu",           "fuse_silu",
    "fuse_silu_mul",      "fuse_matmul_bias",    "fuse_skip_norm",
    "merge_matmul_nbits", "eliminate_dead_code",
};
constexpr int kMaxRounds = 16;  // each round shrinks the graph; more would be two passes undoing each other

const Pass* find_pass(std::string_view name) {
  const auto passes = all_passes();
  const auto found = std::find_if(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; });
  return found == passes.end() ? nullptr : &*found;
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

int nodes_in(const Graph& graph) { return static_cast<int>(graph.order().size()); }

bool run_pass(Graph& graph, const PassContext& context, const PipelineOptions& options, PassReport& report) {
  const auto begin = std::chrono::steady_clock::now();
  const int before = nodes_in(graph);
  const bool changed = find_pass(report.pass)->run(graph, context);
  report.milliseconds += milliseconds_since(begin);
  if (changed || !report.changed) {  // the span from the first to the last change
    report.nodes_before = report.changed ? report.nodes_before : before;
    report.nodes_after = nodes_in(graph);
  }
  report.changed = report.changed || changed;
  if (options.verify) verify(graph, place(context.where, "after pass " + report.pass));
  return changed;
}

}  // namespace

std::vector<PassReport> run_pipeline(Graph& graph, const PassContext& context, const PipelineOptions& options) {
  std::vector<PassReport> reports;
  for (const std::string_view name : kOrder) {
    if (std::find(options.skip.begin(), options.skip.end(), name) == options.skip.end())
      reports.push_back({std::string(name)});
  }
  infer_shapes(graph, context.where);
  bool changed = true;
  for (int round = 0; changed && round < kMaxRounds; ++round) {
    changed = false;
    for (PassReport& report : reports) changed = run_pass(graph, context, options, report) || changed;
    if (changed) infer_shapes(graph, context.where);
  }
  return reports;
}

}  // namespace nxrt::passes
