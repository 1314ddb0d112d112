#include <fmt/format.h>

#include "graph/text.h"
#include "graph/text_cursor.h"
#include "graph/text_elements.h"

namespace nxrt {
namespace {

class Printer {
 public:
  Printer(const PrintOptions& options, int indent) : options_(options), indent_(indent) {}

  std::string body(const Graph& graph, const Graph* outer) const {
    std::string text = inputs(graph, outer) + " => (";
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      text += (i ? ", " : "") + typed(graph.value(graph.outputs()[i]), true);
    }
    text += ") {\n";
    for (const NodeId id : graph.order()) text += std::string(pad() + 2, ' ') + node(graph, graph.node(id)) + "\n";
    return text + std::string(pad(), ' ') + "}";
  }

  static std::string header(const Graph& graph) {
    static const std::map<std::string, int> kDefault = {{"", 21}, {"com.microsoft", 1}};
    std::string text, imports;
    for (const auto& [domain, version] : graph.opsets) {
      imports += fmt::format("{}{} {}", imports.empty() ? "" : ", ", quoted_text(domain), version);
    }
    if (graph.opsets != kDefault && !imports.empty()) text += "opset " + imports + "\n";
    if (!graph.name.empty()) text += "name " + quoted_text(graph.name) + "\n";
    for (const auto& [key, value] : graph.metadata) {
      text += fmt::format("metadata {} {}\n", quoted_text(key), quoted_text(value));
    }
    return text;
  }

 private:
  size_t pad() const { return static_cast<size_t>(2 * indent_); }

  static std::string typed(const Value& value, bool with_type) {
    const bool nothing = value.type.dtype == DType::none && !value.type.shape;
    return (with_type && !nothing ? value.type.text() + " " : "") + name_text(value.name);
  }

  std::string inputs(const Graph& graph, const Graph* outer) const {
    std::string text = "(";
    const auto append = [&text](const std::string& item) { text += (text.size() > 1 ? ", " : "") + item; };
    for (const auto& [inner, captured] : graph.captures()) {
      const std::string &own = graph.value(inner).name, &other = outer->value(captured).name;
      if (own != other) append(fmt::format("^{} = {}", name_text(own), name_text(other)));
    }
    for (const ValueId id : graph.inputs()) append(typed(graph.value(id), true));
    for (const ValueId id : graph.values()) {
      const Value& value = graph.value(id);
      if (value.constant) append(typed(value, true) + " = " + elements(*value.constant));
    }
    return text + ")";
  }

  std::string elements(const Tensor& tensor) const {
    const int64_t count = written_elements(tensor.dtype(), tensor.shape());
    if (count > options_.max_elements || (!tensor.raw() && count > 0)) return "{…}";
    std::string text = "{";
    for (int64_t i = 0; i < count; ++i) text += (i ? ", " : "") + element_text(tensor, i);
    return text + "}";
  }

  std::string node(const Graph& graph, const Node& node) const {
    std::string text;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      text += i ? ", " : "";
      if (node.outputs[i] != kNoValue) text += typed(graph.value(node.outputs[i]), options_.types);
    }
    text += " = " + op(graph, node) + attributes(graph, node) + "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      text += i ? ", " : "";
      if (node.inputs[i] != kNoValue) text += name_text(graph.value(node.inputs[i]).name);
    }
    text += ")";
    const bool implied = node.name.empty() || (!node.outputs.empty() && node.outputs[0] != kNoValue &&
                                               node.name == graph.value(node.outputs[0]).name);
    if (options_.node_names && !implied) text += " as " + quoted_text(node.name);
    return text;
  }

  static std::string op(const Graph& graph, const Node& node) {
    const std::string path = node.domain.empty() ? node.op : node.domain + "." + node.op;
    const bool plain = is_plain_name(path) && node.op.find('.') == std::string::npos;
    std::string text = plain ? path : quoted_text(node.domain) + " " + quoted_text(node.op);
    const auto import = graph.opsets.find(node.domain);
    if (node.opset != (import == graph.opsets.end() ? 1 : import->second)) text += fmt::format("@{}", node.opset);
    return text;
  }

  std::string attributes(const Graph& graph, const Node& node) const {
    std::string text;
    for (const auto& [name, attribute] : node.attributes) {
      text += (text.empty() ? "<" : ", ") + name_text(name) + " = ";
      text += std::visit([&](const auto& value) { return attribute_text(graph, value); }, attribute);
    }
    return text.empty() ? text : text + ">";
  }

  std::string attribute_text(const Graph&, int64_t value) const { return fmt::format("{}", value); }
  std::string attribute_text(const Graph&, float value) const { return float_text(value, true); }
  std::string attribute_text(const Graph&, const std::string& value) const { return quoted_text(value); }
  std::string attribute_text(const Graph&, const Tensor& value) const {
    return fmt::format("{}{} {}", name_of(value.dtype()), value.shape().text(), elements(value));
  }
  std::string attribute_text(const Graph& graph, const std::shared_ptr<Graph>& value) const {
    return Printer(options_, indent_ + 2).body(*value, &graph);
  }
  template <class T>
  std::string attribute_text(const Graph& graph, const std::vector<T>& values) const {
    if (values.empty())
      return std::is_same_v<T, int64_t> ? "ints[]" : std::is_same_v<T, float> ? "floats[]" : "strings[]";
    std::string text;
    for (const T& value : values) text += (text.empty() ? "[" : ", ") + attribute_text(graph, value);
    return text + "]";
  }

  const PrintOptions& options_;
  int indent_;
};

}  // namespace

std::string print_graph(const Graph& graph, const PrintOptions& options) {
  return Printer::header(graph) + Printer(options, 0).body(graph, nullptr) + "\n";
}

}  // namespace nxrt
