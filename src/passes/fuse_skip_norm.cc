// A residual sum and the normalisation that follows it are one operator, which also gives the sum:
// Add + SimplifiedLayerNormalization → com.microsoft.SkipSimplifiedLayerNormalization, and LayerNormalization likewise.
#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {
namespace {

bool over_last_axis(const Rewriter& edit, const Node& norm) {
  const TensorType& type = edit.value(norm.inputs[0]).type;
  const int64_t axis = integer(norm, "axis", -1);
  if (!type.shape || type.dtype != DType::f32) return false;
  return (axis == -1 || axis == type.shape->rank() - 1) && (type.shape->rank() == 2 || type.shape->rank() == 3);
}

// The fused node stands where the sum stood: what the norm reads besides must exist there already.
bool reads_weights_only(const Rewriter& edit, const Node& norm) {
  for (size_t i = 1; i < norm.inputs.size(); ++i) {
    if (edit.producer(norm.inputs[i]).valid()) return false;
  }
  return true;
}

bool gives_one_output(const Rewriter& edit, const Node& norm) {
  for (size_t i = 1; i < norm.outputs.size(); ++i) {
    if (norm.outputs[i] != kNoValue && edit.uses(norm.outputs[i]) > 0) return false;
  }
  return true;
}

std::string_view fused_name(const Node& norm) {
  if (is_onnx(norm, "SimplifiedLayerNormalization")) return "SkipSimplifiedLayerNormalization";
  return is_onnx(norm, "LayerNormalization") ? "SkipLayerNormalization" : "";
}

void fuse(Rewriter& edit, NodeId sum, NodeId norm, std::string_view name) {
  const Node old = edit.node(norm);
  Node fused{.domain = "com.microsoft", .op = std::string(name), .opset = 1, .inputs = edit.node(sum).inputs};
  fused.inputs.insert(fused.inputs.end(), old.inputs.begin() + 1, old.inputs.end());
  if (const auto epsilon = old.attributes.find("epsilon"); epsilon != old.attributes.end()) {
    fused.attributes.insert(*epsilon);
  } else {
    fused.attributes["epsilon"] = 1e-5f;  // the default of the norm; the fused operator's is another
  }
  const ValueId total = edit.node(sum).outputs[0];
  edit.become(sum, std::move(fused));
  edit.erase_keeping_outputs(norm);
  if (edit.uses(total) > 0) {
    edit.set_outputs(sum, {old.outputs[0], kNoValue, kNoValue, total});
  } else {
    edit.set_outputs(sum, {old.outputs[0]});
  }
}

}  // namespace

bool fuse_skip_norm(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id)) continue;
    const Node& norm = edit.node(id);
    const std::string_view name = fused_name(norm);
    if (name.empty() || !ops::find_op("com.microsoft", name, 1) || !over_last_axis(edit, norm)) continue;
    const Node* sum = edit.producer(norm.inputs[0], "Add");
    if (!sum || !same_type(edit, sum->inputs[0], sum->inputs[1])) continue;
    if (!gives_one_output(edit, norm) || !reads_weights_only(edit, norm)) continue;
    fuse(edit, edit.producer(norm.inputs[0]), id, name);
  }
  return edit.changed();
}

}  // namespace nxrt::passes
