// Nodes and constants that no output depends on.
#include "passes/pass.h"
#include "passes/support/rewriter.h"

namespace nxrt::passes {

bool eliminate_dead_code(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  const std::vector<NodeId> nodes = edit.nodes();
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) edit.erase_if_dead(*id);
  for (const ValueId id : graph.values()) {
    const Value& value = graph.value(id);
    if (edit.uses(id) > 0 || value.producer.valid() || graph.is_input(id)) continue;
    graph.erase(id);
    edit.note_change();
  }
  return edit.changed();
}

}  // namespace nxrt::passes
