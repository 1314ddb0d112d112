// GraphProto → Graph: resolves names to values, links bodies to their surroundings, inlines model-local functions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "graph/graph.h"
#include "onnx/node_order.h"
#include "onnx/read_context.h"

namespace nxrt::onnx {

// A call of a function that is being inlined.
struct Call {
  const Function& function;
  const std::map<std::string, Attribute>& attributes;
  const Call* caller;
};

// Names of a graph or of a function's body, and the graph their values live in.
struct Scope {
  Graph& graph;
  Scope* outer = nullptr;  // the surroundings of a body; a function has none
  const std::map<std::string, int>& opsets;
  const Call* call = nullptr;
  std::string prefix;  // of the names of values and nodes that come from a function
  int depth = 0;
  std::unordered_map<std::string_view, ValueId> values{};
  std::unordered_map<std::string_view, std::string> renamed{};  // a function's outputs are named by its caller
  std::unordered_map<std::string_view, TensorType> hints{};

  std::string name_of(std::string_view name) const {
    const auto it = renamed.find(name);
    return it == renamed.end() ? prefix + std::string(name) : it->second;
  }
};

class GraphReader {
 public:
  explicit GraphReader(ReadContext& context) : context_(context) {}
  void read_graph(Bytes message, Scope& scope);

 private:
  struct GraphFields;
  GraphFields read_graph_fields(Bytes message);
  void read_constants(const GraphFields& fields, Scope& scope);
  void read_inputs(const GraphFields& fields, Scope& scope);
  void read_node(Bytes message, Scope& scope);
  void add_node(const NodeFields& fields, Scope& scope);
  std::map<std::string, Attribute> read_attributes(const NodeFields& fields, Scope& scope);
  std::shared_ptr<Graph> read_body(Bytes message, Scope& outer);
  std::vector<ValueId> read_node_inputs(const NodeFields& fields, Scope& scope);
  void inline_call(const NodeFields& fields, const Function& function, Scope& scope);
  void bind_outputs(const NodeFields& fields, const Function& function, Scope& body, Scope& scope);
  ValueId find(std::string_view name, Scope& scope);
  void define(std::string_view name, ValueId id, Scope& scope, const std::string& at);

  ReadContext& context_;
};

}  // namespace nxrt::onnx
