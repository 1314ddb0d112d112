// Nodes that compute the same from the same, and equal small constants, become one.
#include <string>
#include <unordered_map>

#include "passes/pass.h"
#include "passes/support/rewriter.h"

namespace nxrt::passes {
namespace {

constexpr int64_t kMaxComparedBytes = 1024;  // of a constant: enough for scalars, axes and shapes

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& key, const std::string& text) {
  append(key, text.size());
  key += text;
}

bool append_tensor(std::string& key, const Tensor& tensor) {
  if (tensor.bytes() > kMaxComparedBytes || tensor.dtype() == DType::string) return false;
  append(key, tensor.dtype());
  append_text(key, tensor.shape().text());
  key.append(static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes()));
  return true;
}

// False for attributes that are not compared: subgraphs and large tensors.
struct AppendAttribute {
  std::string& key;
  bool operator()(int64_t value) const { return append(key, value), true; }
  bool operator()(float value) const { return append(key, value), true; }
  bool operator()(const std::string& value) const { return append_text(key, value), true; }
  bool operator()(const Tensor& value) const { return append_tensor(key, value); }
  bool operator()(const std::shared_ptr<Graph>&) const { return false; }
  template <class T>
  bool operator()(const std::vector<T>& values) const {
    append(key, values.size());
    for (const T& value : values) (*this)(value);
    return true;
  }
};

std::optional<std::string> key_of(const Node& node) {
  std::string key;
  for (const std::string* text : {&node.domain, &node.op}) append_text(key, *text);
  append(key, node.opset);
  append(key, node.inputs.size());
  for (const ValueId input : node.inputs) append(key, input);
  for (const ValueId output : node.outputs) append(key, output == kNoValue);
  for (const auto& [name, attribute] : node.attributes) {
    append_text(key, name);
    append(key, attribute.index());
    if (!std::visit(AppendAttribute{key}, attribute)) return std::nullopt;
  }
  return key;
}

void merge_constants(Rewriter& edit) {
  std::unordered_map<std::string, ValueId> seen;
  for (const ValueId id : edit.graph().values()) {
    const Value& value = edit.value(id);
    std::string key;
    if (!value.constant || edit.is_output(id) || edit.uses(id) == 0 || !append_tensor(key, *value.constant)) continue;
    const auto [first, fresh] = seen.emplace(std::move(key), id);
    if (!fresh) edit.replace(id, first->second);
  }
}

void merge(Rewriter& edit, NodeId duplicate, NodeId original) {
  const std::vector<ValueId> from = edit.node(duplicate).outputs;
  const std::vector<ValueId> to = edit.node(original).outputs;
  for (const ValueId output : from) {
    if (output != kNoValue && edit.is_output(output)) return;  // a graph output keeps its own node
  }
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != kNoValue && edit.graph().alive(from[i]) && edit.uses(from[i]) > 0) edit.replace(from[i], to[i]);
  }
}

}  // namespace

bool eliminate_common_subexpressions(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  merge_constants(edit);
  std::unordered_map<std::string, NodeId> seen;
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id)) continue;
    const Node& node = edit.node(id);
    const ops::OpDef* op = ops::find_op(node.domain, node.op, node.opset);
    if (!op || !op->pure) continue;
    auto key = key_of(node);
    if (!key) continue;
    const auto [first, fresh] = seen.emplace(*std::move(key), id);
    if (!fresh) merge(edit, id, first->second);
  }
  return edit.changed();
}

}  // namespace nxrt::passes
