// nxrt.Silu(gate) · up → nxrt.SiluMul(gate, up), the activation of gated feed-forward layers.
#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {

bool fuse_silu_mul(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id) || !is_onnx(edit.node(id), "Mul")) continue;
    const std::vector<ValueId> inputs = edit.node(id).inputs;
    for (const ValueId activated : inputs) {
      const Node* silu = edit.producer(activated, "Silu", "nxrt");
      const auto up = other_input(edit.node(id), activated);
      if (!silu || !up || *up == activated || !edit.used_once(activated) || !same_type(edit, activated, *up)) continue;
      edit.become(id, {.domain = "nxrt", .op = "SiluMul", .opset = 1, .inputs = {silu->inputs[0], *up}});
      break;
    }
  }
  return edit.changed();
}

}  // namespace nxrt::passes
