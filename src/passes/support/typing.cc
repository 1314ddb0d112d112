#include "passes/support/typing.h"

#include <fmt/format.h>

#include <utility>

#include "passes/support/control_flow.h"

namespace nxrt::passes {
namespace {

[[noreturn]] void contradiction(const std::string& value, const TensorType& inferred, const TensorType& declared,
                                const std::string& at) {
  throw Error(Code::invalid_argument,
              fmt::format("value '{}' is {}, but the file declares {}", value, inferred.text(), declared.text()), at,
              "export the model again, or remove its value_info");
}

SymShape constants_of(const SymShape& declared) {
  std::vector<Dim> dims;
  for (const Dim& dim : declared.dims()) dims.push_back(dim.is_constant() ? dim : Dim::unknown());
  return SymShape(std::move(dims));
}

// Whether two known shapes can't be the same one.
bool contradicts(const TensorType& a, const TensorType& b) {
  if (!a.shape || !b.shape) return false;
  if (a.shape->rank() != b.shape->rank()) return true;
  for (int axis = 0; axis < a.shape->rank(); ++axis) {
    if (contradict((*a.shape)[axis], (*b.shape)[axis])) return true;
  }
  return false;
}

// The elements of a small integer tensor must be as many as its shape says; an op that errs here is a bug of ours.
void expect_consistent(const TensorType& type, const std::string& at) {
  if (!type.elements || !type.shape) return;
  const auto count = type.shape->count().constant();
  if (count && *count != static_cast<int64_t>(type.elements->size())) {
    throw Error(Code::internal, fmt::format("{} elements were inferred for {}", type.elements->size(), type.text()),
                at);
  }
}

void type_outputs(Graph& graph, const Node& node, std::vector<TensorType> types, const std::string& at) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue || i >= types.size()) continue;
    Value& value = graph.value(node.outputs[i]);
    // What a file says of values inside the graph is a hint, and exporters get it wrong (a scalar declared as [1]);
    // what it says of its outputs is a promise to the caller.
    if (!graph.is_output(node.outputs[i]) && contradicts(types[i], value.type)) value.type.shape.reset();
    value.type = refine(std::move(types[i]), value.type, value.name, at);
    expect_consistent(value.type, at);
  }
}

}  // namespace

ops::NodeView view_of(const Graph& graph, const Node& node, const std::string& where) {
  std::vector<TensorType> types;
  std::vector<const Tensor*> constants;
  types.reserve(node.inputs.size());
  constants.reserve(node.inputs.size());
  for (const ValueId input : node.inputs) {
    const Value* value = input == kNoValue ? nullptr : &graph.value(input);
    types.push_back(value ? value->type : TensorType{});
    constants.push_back(value && value->constant ? &*value->constant : nullptr);
  }
  return {node, std::move(types), std::move(constants), where};
}

bool can_be_typed(const Graph& graph, const Node& node) {
  for (const ValueId input : node.inputs) {
    if (input == kNoValue) continue;
    const TensorType& type = graph.value(input).type;
    if (type.dtype == DType::none || !type.shape) return false;
  }
  return true;
}

TensorType refine(TensorType inferred, const TensorType& declared, const std::string& value, const std::string& at) {
  if (inferred.dtype == DType::none) inferred.dtype = declared.dtype;
  if (declared.dtype != DType::none && declared.dtype != inferred.dtype) contradiction(value, inferred, declared, at);
  if (!declared.shape) return inferred;
  if (!inferred.shape) {
    inferred.shape = constants_of(*declared.shape);
    return inferred;
  }
  if (inferred.shape->rank() != declared.shape->rank()) contradiction(value, inferred, declared, at);
  for (int axis = 0; axis < inferred.shape->rank(); ++axis) {
    Dim& dim = (*inferred.shape)[axis];
    const Dim& hint = (*declared.shape)[axis];
    if (contradict(dim, hint)) contradiction(value, inferred, declared, at);
    if (!dim.known() && hint.is_constant()) dim = hint;
  }
  return inferred;
}

void infer_types(Graph& graph, const std::string& where) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (is_control_flow(node)) {
      type_outputs(graph, node, infer_control_flow(graph, node, where), place(where, place_of(node)));
      continue;
    }
    if (!can_be_typed(graph, node)) continue;
    const ops::NodeView view = view_of(graph, node, where);
    type_outputs(graph, node, ops::find_op(node.domain, node.op, node.opset)->infer(view), view.at());
  }
}

}  // namespace nxrt::passes
