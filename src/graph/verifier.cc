#include "graph/verifier.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/error.h"

namespace nxrt {
namespace {

using Defined = std::unordered_set<ValueId>;

class Verifier {
 public:
  Verifier(const Graph& graph, std::string where) : graph_(graph), where_(std::move(where)) {}

  void check(const Graph* outer, const Defined& defined_outside) {
    check_names();
    check_inputs();
    check_captures(outer, defined_outside);
    check_constants();
    check_nodes();
    check_producers();
    check_outputs();
  }

 private:
  void check_names() const {
    for (const ValueId id : graph_.values()) {
      const std::string& name = graph_.value(id).name;
      if (name.empty()) fail(fmt::format("value {} has no name", id.value));
      if (graph_.find_value(name) != id) fail(fmt::format("two values are named '{}'", name));
    }
  }

  void check_inputs() {
    for (const ValueId id : graph_.inputs()) define_source("graph input", id);
  }

  void check_captures(const Graph* outer, const Defined& defined_outside) {
    if (!outer && !graph_.captures().empty()) fail("a graph without surroundings captures values");
    for (const auto& [inner, captured] : graph_.captures()) {
      define_source("capture", inner);
      if (!defined_outside.contains(captured)) {
        fail(fmt::format("capture '{}' reads a value that is not defined before its node", graph_.value(inner).name));
      }
    }
  }

  // An input or a capture: alive, once, and given its value by nobody else.
  void define_source(const char* kind, ValueId id) {
    if (!graph_.alive(id)) fail(fmt::format("a {} is value {}, which is not alive", kind, id.value));
    const Value& value = graph_.value(id);
    if (value.constant) fail(fmt::format("{} '{}' is also a constant", kind, value.name));
    if (value.producer.valid()) fail(fmt::format("{} '{}' is also produced by a node", kind, value.name));
    if (!defined_.insert(id).second) fail(fmt::format("'{}' is an input or capture twice", value.name));
  }

  void check_constants() {
    for (const ValueId id : graph_.values()) {
      const Value& value = graph_.value(id);
      if (!value.constant) continue;
      if (value.producer.valid()) fail(fmt::format("constant '{}' is also produced by a node", value.name));
      const bool agrees = value.type.dtype == value.constant->dtype() && value.type.shape &&
                          value.type.shape->constant() == value.constant->shape();
      if (!agrees) {
        fail(fmt::format("constant '{}' has type {} but its tensor is {}{}", value.name, value.type.text(),
                         name_of(value.constant->dtype()), value.constant->shape().text()));
      }
      defined_.insert(id);
    }
  }

  void check_nodes() {
    std::unordered_set<NodeId> seen;
    for (const NodeId id : graph_.order()) {
      if (!graph_.alive(id)) fail(fmt::format("the order holds node {}, which is not alive", id.value));
      if (!seen.insert(id).second) fail("the order holds a node twice", graph_.node(id));
      check_node(id, graph_.node(id));
    }
    if (static_cast<int>(seen.size()) != graph_.node_count()) fail("the order does not hold every node");
  }

  void check_node(NodeId id, const Node& node) {
    if (node.op.empty()) fail("a node has no operator", node);
    if (!node.inputs.empty() && node.inputs.back() == kNoValue) fail("trailing omitted inputs are not trimmed", node);
    for (const ValueId input : node.inputs) {
      if (input == kNoValue || defined_.contains(input)) continue;
      const std::string name = graph_.alive(input) ? graph_.value(input).name : fmt::format("{}", input.value);
      fail(fmt::format("input '{}' is not defined before the node", name), node);
    }
    check_subgraphs(node);
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      if (!graph_.alive(output)) fail(fmt::format("output {} is not alive", output.value), node);
      const Value& value = graph_.value(output);
      if (value.producer != id) fail(fmt::format("output '{}' does not name the node as producer", value.name), node);
      if (!defined_.insert(output).second) fail(fmt::format("output '{}' has two producers", value.name), node);
    }
  }

  void check_subgraphs(const Node& node) const {
    for (const auto& [name, attribute] : node.attributes) {
      const auto* inner = std::get_if<std::shared_ptr<Graph>>(&attribute);
      if (!inner) continue;
      if (!*inner) fail(fmt::format("attribute '{}' holds no graph", name), node);
      Verifier(**inner, place(where_, place_of(node) + " " + name)).check(&graph_, defined_);
    }
  }

  void check_producers() const {
    for (const ValueId id : graph_.values()) {
      const Value& value = graph_.value(id);
      if (value.producer.valid() && !defined_.contains(id)) {
        fail(fmt::format("value '{}' names a producer that does not produce it", value.name));
      }
    }
  }

  void check_outputs() const {
    for (const ValueId id : graph_.outputs()) {
      if (!graph_.alive(id)) fail(fmt::format("a graph output is value {}, which is not alive", id.value));
      if (!defined_.contains(id)) fail(fmt::format("graph output '{}' is never defined", graph_.value(id).name));
    }
  }

  [[noreturn]] void fail(const std::string& what) const { throw Error(Code::corrupt, what, where_); }
  [[noreturn]] void fail(const std::string& what, const Node& node) const {
    throw Error(Code::corrupt, what, place(where_, place_of(node)));
  }

  const Graph& graph_;
  const std::string where_;
  Defined defined_;  // so far, in order
};

}  // namespace

void verify(const Graph& graph, const std::string& where) { Verifier(graph, where).check(nullptr, {}); }

}  // namespace nxrt
