// A constant row added to a product with quantized weights is the product's own bias input.
#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {
namespace {

constexpr size_t kBiasInput = 5;  // of com.microsoft.MatMulNBits

bool is_bias(const Rewriter& edit, ValueId bias, int64_t columns) {
  const auto& constant = edit.value(bias).constant;
  return constant && constant->dtype() == DType::f32 && constant->shape() == Shape{columns};
}

}  // namespace

bool fuse_matmul_bias(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id) || !is_onnx(edit.node(id), "Add")) continue;
    const std::vector<ValueId> inputs = edit.node(id).inputs;
    for (const ValueId product : inputs) {
      const Node* matmul = edit.producer(product, "MatMulNBits", "com.microsoft");
      const ValueId bias = *other_input(edit.node(id), product);
      if (!matmul || matmul->inputs.size() > kBiasInput || !edit.used_once(product)) continue;
      if (edit.value(product).type.dtype != DType::f32 || !is_bias(edit, bias, integer(*matmul, "N", -1))) continue;
      Node fused = *matmul;
      fused.inputs.resize(kBiasInput, kNoValue);
      fused.inputs.push_back(bias);
      edit.become(id, std::move(fused));
      break;
    }
  }
  return edit.changed();
}

}  // namespace nxrt::passes
