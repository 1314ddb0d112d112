// Graph → GraphProto and its parts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "graph/graph.h"
#include "onnx/wire_writer.h"
#include "onnx/writer.h"

namespace nxrt::onnx {

class GraphWriter {
 public:
  // `store` puts a large constant elsewhere and answers where; nothing when it is to be embedded.
  using Store = std::function<std::optional<ExternalTensor>(const Value& value)>;
  explicit GraphWriter(Store store) : store_(std::move(store)) {}

  WireWriter graph(const Graph& graph) { return this->graph(graph, nullptr); }
  // What the written nodes and types ask of the model around them.
  const std::map<std::string, int>& opsets() const { return opsets_; }
  int ir_version() const { return ir_version_; }

 private:
  // The names of a graph's values in the file. A body's captures are called as their surroundings call them, and its
  // own values give way to names that are visible from outside.
  struct Names {
    const Names* outer;
    std::unordered_map<ValueId, std::string> of{};
    std::set<std::string, std::less<>> taken{};
    bool visible(const std::string& name) const { return taken.contains(name) || (outer && outer->visible(name)); }
  };

  WireWriter graph(const Graph& graph, const Names* outer);
  static Names names_of(const Graph& graph, const Names* outer);
  WireWriter node(const Node& node, const Names& names);
  WireWriter attribute(const std::string& name, const Attribute& attribute, const Names& names);
  WireWriter tensor(const std::string& name, const Tensor& tensor);
  WireWriter constant(const Value& value, const std::string& name);
  WireWriter value_info(const Value& value, const std::string& name);
  WireWriter shape(const SymShape& shape);
  int number_of(DType dtype);
  void import_opset(const Node& node);

  Store store_;
  std::map<std::string, int> opsets_;
  int ir_version_ = 10;
};

}  // namespace nxrt::onnx
