// The graph while a pass rewrites it: who reads what, kept up to date in constant time per change.
//
//   Rewriter edit(graph);
//   for (const NodeId id : edit.nodes()) if (matches(id)) edit.become(id, {.domain = "nxrt", .op = "Silu", .inputs =
//   {x}}); return edit.changed();
//
// A fused operator takes the place (and the outputs) of the pattern's last node; what nobody reads any more disappears.
// Threads: one. The graph must not be changed behind its back.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace nxrt::passes {

class Rewriter {
 public:
  explicit Rewriter(Graph& graph);

  Graph& graph() { return graph_; }
  std::vector<NodeId> nodes() const { return graph_.order(); }  // a copy: erased ones must be skipped with alive()
  bool alive(NodeId id) const { return graph_.alive(id); }
  const Node& node(NodeId id) const { return graph_.node(id); }
  const Value& value(ValueId id) const { return graph_.value(id); }

  // The node that makes `id` when it is this operator of ai.onnx (or of `domain`), else null.
  const Node* producer(ValueId id, std::string_view op, std::string_view domain = {}) const;
  NodeId producer(ValueId id) const { return id == kNoValue ? NodeId{} : graph_.value(id).producer; }
  int uses(ValueId id) const;                            // by node inputs, captures and graph outputs
  bool used_once(ValueId id) const;                      // by one node input, and not visible outside
  const std::vector<NodeId>& readers(ValueId id) const;  // once per use, captures included
  bool is_output(ValueId id) const;

  // Replaces what a node computes; its outputs, name and place stay. Inputs nobody reads any more disappear.
  void become(NodeId id, Node replacement);
  // Every reader of `from` reads `to`. False, and nothing happens, when that would rename a graph output.
  bool replace(ValueId from, ValueId to);
  void make_constant(ValueId id, Tensor tensor);  // of a node's output; the node disappears when it makes nothing else
  void erase_if_dead(NodeId id);                  // and, transitively, its inputs' producers
  void erase_keeping_outputs(NodeId id);          // the caller gives them another producer
  void set_outputs(NodeId id, std::vector<ValueId> values);  // values it made before and that nobody reads disappear
  void note_change() { changed_ = true; }
  bool changed() const { return changed_; }

 private:
  template <class F>
  void each_use(const Node& node, F&& visit) const;
  void add_uses(NodeId id);
  void remove_uses(NodeId id);

  Graph& graph_;
  std::unordered_map<ValueId, std::vector<NodeId>> readers_;
  std::unordered_map<ValueId, int> outputs_;  // how often a value is a graph output
  bool changed_ = false;
};

}  // namespace nxrt::passes
