// x · Sigmoid(x) → nxrt.Silu(x).
#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {

bool fuse_silu(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id) || !is_onnx(edit.node(id), "Mul")) continue;
    const std::vector<ValueId> inputs = edit.node(id).inputs;
    for (const ValueId gate : inputs) {
      const Node* sigmoid = edit.producer(gate, "Sigmoid");
      const auto x = other_input(edit.node(id), gate);
      if (!sigmoid || sigmoid->inputs[0] != x || edit.value(*x).type.dtype != DType::f32) continue;
      edit.become(id, {.domain = "nxrt", .op = "Silu", .opset = 1, .inputs = {*x}});
      break;
    }
  }
  return edit.changed();
}

}  // namespace nxrt::passes
