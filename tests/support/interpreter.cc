#include "support/interpreter.h"

#include <memory>
#include <variant>

#include "base/error.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

void refuse_bodies(const Node& node) {
  for (const auto& [name, value] : node.attributes) {
    if (std::holds_alternative<std::shared_ptr<Graph>>(value)) {
      throw Error(Code::unsupported, "the interpreter runs no bodies", place_of(node));
    }
  }
}

}  // namespace

std::map<std::string, Tensor> interpret(const Graph& graph, const std::map<std::string, Tensor>& inputs,
                                        const Kernels& cpu) {
  std::map<ValueId, Tensor> values;
  for (const ValueId id : graph.values()) {
    if (graph.value(id).constant) values[id] = *graph.value(id).constant;
  }
  for (const ValueId id : graph.inputs()) {
    const auto given = inputs.find(graph.value(id).name);
    if (given != inputs.end()) values[id] = given->second;
    if (!values.count(id))
      throw Error(Code::not_found, "input '" + graph.value(id).name + "' has no value", graph.name);
  }
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    refuse_bodies(node);
    OpRun how{.cpu = &cpu};
    std::vector<Tensor> arguments;
    for (const ValueId input : node.inputs) {
      if (input != kNoValue && graph.value(input).constant)
        how.constant_inputs.insert(static_cast<int>(arguments.size()));
      arguments.push_back(input == kNoValue ? Tensor() : values.at(input));
    }
    const std::vector<Tensor> results = run_node(node, arguments, how);
    for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
      if (node.outputs[i] != kNoValue) values[node.outputs[i]] = results[i];
    }
  }
  std::map<std::string, Tensor> outputs;
  for (const ValueId id : graph.outputs()) outputs[graph.value(id).name] = values.at(id);
  return outputs;
}

}  // namespace nxrt::test
