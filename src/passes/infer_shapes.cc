#include <fmt/format.h>

#include <map>
#include <tuple>

#include "passes/pass.h"
#include "passes/support/control_flow.h"
#include "passes/support/typing.h"

namespace nxrt::passes {
namespace {

// Operators without a definition: (domain, op, opset) → first node and number of nodes.
struct Missing {
  std::string first;
  int nodes = 0;
};
using MissingOps = std::map<std::tuple<std::string, std::string, int>, Missing>;

void collect_missing(const Graph& graph, MissingOps& missing) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_control_flow(node) && !ops::find_op(node.domain, node.op, node.opset)) {
      Missing& entry = missing[{node.domain, node.op, node.opset}];
      if (entry.nodes++ == 0) entry.first = place_of(node);
    }
    for (const auto& [name, attribute] : node.attributes) {
      if (const auto* inner = std::get_if<std::shared_ptr<Graph>>(&attribute)) collect_missing(**inner, missing);
    }
  }
}

void expect_every_operator(const Graph& graph, const std::string& where) {
  MissingOps missing;
  collect_missing(graph, missing);
  if (missing.empty()) return;
  std::string list;
  for (const auto& [key, entry] : missing) {
    const auto& [domain, op, opset] = key;
    list +=
        fmt::format("{}{} ({} version {}): {} node{}, first {}", list.empty() ? "" : "; ", op,
                    domain.empty() ? "ai.onnx" : domain, opset, entry.nodes, entry.nodes == 1 ? "" : "s", entry.first);
  }
  throw Error(
      Code::unsupported,
      fmt::format("{} operator{} without an implementation: {}", missing.size(), missing.size() == 1 ? "" : "s", list),
      where, "export the model with operators of the supported list, or another opset");
}

}  // namespace

void infer_shapes(Graph& graph, const std::string& where) {
  expect_every_operator(graph, where);
  infer_types(graph, where);
}

}  // namespace nxrt::passes
