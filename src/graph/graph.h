// The IR: a list of nodes in topological order over SSA values.
//
//   Graph g;  ValueId x = g.add_input("x", {DType::f32, SymShape{Dim::symbol("B"), 64}});
//   NodeId n = g.add_node({.op = "Relu", .inputs = {x}}, {"y"});   g.outputs().push_back(g.node(n).outputs[0]);
//
// Threads: built and rewritten by one thread; const access from many.
// Errors:  accessors given an id that is not alive throw Error{internal}. What a well-formed graph is:
// graph/verifier.h. Memory:  constants share the bytes of the mapped file.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/tensor.h"
#include "graph/tensor_type.h"

namespace nxrt {

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;
inline constexpr ValueId kNoValue{};  // an omitted optional input or output

class Graph;

using Attribute = std::variant<int64_t, float, std::string, Tensor, std::shared_ptr<Graph>, std::vector<int64_t>,
                               std::vector<float>, std::vector<std::string>>;

struct Value {
  std::string name;  // unique within its graph
  TensorType type;
  std::optional<Tensor> constant;  // an initializer (or a folded result)
  NodeId producer;                 // invalid for inputs, constants and captures
};

struct Node {
  std::string name;
  std::string domain;  // "" is ai.onnx; "com.microsoft"; "nxrt" for our internal operators; "pkg.nxrt"
  std::string op;
  int opset = 0;                // version of `domain` this node is written for
  std::vector<ValueId> inputs;  // trailing omitted inputs are trimmed; inner ones are kNoValue
  std::vector<ValueId> outputs;
  std::map<std::string, Attribute> attributes;
};

class Graph {
 public:
  std::string name;
  std::map<std::string, int> opsets;            // domain → version
  std::map<std::string, std::string> metadata;  // metadata_props of the file

  // Values and nodes keep their ids for life; erased ones are never reused. A value's name that is empty or taken is
  // made unique.
  ValueId add_value(std::string name, TensorType type = {});
  ValueId add_input(std::string name, TensorType type);
  ValueId add_constant(std::string name, Tensor tensor);
  // Appends a node at the end of the order (or before `before`), making one new value per non-empty output name. A node
  // without an opset gets the graph's version of its domain (1 when not imported).
  NodeId add_node(Node node, const std::vector<std::string>& output_names, NodeId before = {});
  void erase(NodeId node);    // its outputs become producer-less; erase or rewire their uses first
  void erase(ValueId value);  // must have no use
  // In nodes, captures and graph outputs. When `from` is an output the two exchange names, so that the output keeps its
  // name; not when `to` is itself an input or output.
  void replace_uses(ValueId from, ValueId to);
  void rename(ValueId id, std::string name);
  std::string unique_name(std::string_view base) const;

  const std::vector<NodeId>& order() const { return order_; }  // topological
  int node_count() const;                                      // alive
  void set_order(std::vector<NodeId> order) { order_ = std::move(order); }
  std::vector<ValueId>& inputs() { return inputs_; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  std::vector<ValueId>& outputs() { return outputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }

  Value& value(ValueId id);  // change a name with rename() only
  const Value& value(ValueId id) const;
  Node& node(NodeId id);
  const Node& node(NodeId id) const;
  bool alive(ValueId id) const;
  bool alive(NodeId id) const;
  std::vector<ValueId> values() const;              // alive, ascending
  ValueId find_value(std::string_view name) const;  // kNoValue when absent
  std::vector<NodeId> users(ValueId id) const;      // nodes that read it, in order, subgraph captures included
  bool is_output(ValueId id) const;
  bool is_input(ValueId id) const;

  // A subgraph's link to its surroundings: inner value (no producer) ↔ value of the enclosing graph.
  struct Capture {
    ValueId inner, outer;
  };
  std::vector<Capture>& captures() { return captures_; }
  const std::vector<Capture>& captures() const { return captures_; }

  std::unique_ptr<Graph> clone() const;  // constants share bytes; subgraphs are cloned

 private:
  void exchange_names(ValueId a, ValueId b);
  std::string free_name(std::string wanted);

  std::vector<std::optional<Value>> values_;
  std::vector<std::optional<Node>> nodes_;
  std::vector<NodeId> order_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<Capture> captures_;
  std::map<std::string, ValueId, std::less<>> by_name_;
  std::map<std::string, int> last_suffix_;  // where free_name stopped: many equal names stay cheap
};

// "node '/layers.0/mlp/down_proj' (MatMulNBits)": the `at` part of errors.
std::string place_of(const Node& node);

}  // namespace nxrt
