#include "passes/support/rewriter.h"

#include <algorithm>
#include <utility>

namespace nxrt::passes {
namespace {
bool is_onnx(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }
}  // namespace

template <class F>
void Rewriter::each_use(const Node& node, F&& visit) const {
  for (const ValueId input : node.inputs) {
    if (input != kNoValue) visit(input);
  }
  for (const auto& [name, attribute] : node.attributes) {
    const auto* inner = std::get_if<std::shared_ptr<Graph>>(&attribute);
    if (!inner) continue;
    for (const Graph::Capture& capture : (*inner)->captures()) visit(capture.outer);
  }
}

void Rewriter::add_uses(NodeId id) {
  each_use(graph_.node(id), [&](ValueId value) { readers_[value].push_back(id); });
}

void Rewriter::remove_uses(NodeId id) {
  each_use(graph_.node(id), [&](ValueId value) {
    auto& readers = readers_[value];
    readers.erase(std::find(readers.begin(), readers.end(), id));
  });
}

Rewriter::Rewriter(Graph& graph) : graph_(graph) {
  for (const NodeId id : graph.order()) add_uses(id);
  for (const ValueId output : graph.outputs()) ++outputs_[output];
}

const Node* Rewriter::producer(ValueId id, std::string_view op, std::string_view domain) const {
  const NodeId maker = producer(id);
  if (!maker.valid()) return nullptr;
  const Node& node = graph_.node(maker);
  if (node.op != op) return nullptr;
  return node.domain == domain || (is_onnx(node.domain) && is_onnx(domain)) ? &node : nullptr;
}

const std::vector<NodeId>& Rewriter::readers(ValueId id) const {
  static const std::vector<NodeId> nobody;
  const auto found = readers_.find(id);
  return found == readers_.end() ? nobody : found->second;
}

bool Rewriter::is_output(ValueId id) const { return outputs_.contains(id); }
int Rewriter::uses(ValueId id) const { return static_cast<int>(readers(id).size()) + (is_output(id) ? 1 : 0); }
bool Rewriter::used_once(ValueId id) const { return readers(id).size() == 1 && !is_output(id); }

void Rewriter::become(NodeId id, Node replacement) {
  Node& node = graph_.node(id);
  const std::vector<ValueId> old_inputs = node.inputs;
  remove_uses(id);
  while (!replacement.inputs.empty() && replacement.inputs.back() == kNoValue) replacement.inputs.pop_back();
  replacement.outputs = std::move(node.outputs);
  replacement.name = std::move(node.name);
  if (replacement.opset == 0) {
    const auto import = graph_.opsets.find(replacement.domain);
    replacement.opset = import == graph_.opsets.end() ? 1 : import->second;
  }
  node = std::move(replacement);
  add_uses(id);
  for (const ValueId input : old_inputs) {
    if (const NodeId maker = producer(input); maker.valid()) erase_if_dead(maker);
  }
  changed_ = true;
}

bool Rewriter::replace(ValueId from, ValueId to) {
  const NodeId maker = producer(to);
  if (is_output(from)) {
    // The output keeps its name only if `to` can take it: a value of our own, not visible outside.
    if (!maker.valid() || is_output(to)) return false;
  }
  const std::vector<NodeId> readers = std::move(readers_[from]);
  readers_.erase(from);
  graph_.replace_uses(from, to);
  auto& gained = readers_[to];
  gained.insert(gained.end(), readers.begin(), readers.end());
  if (const auto output = outputs_.find(from); output != outputs_.end()) {
    outputs_[to] = output->second;
    outputs_.erase(from);
  }
  changed_ = true;
  if (const NodeId old = producer(from); old.valid()) erase_if_dead(old);
  return true;
}

void Rewriter::make_constant(ValueId id, Tensor tensor) {
  const NodeId maker = producer(id);
  Node& node = graph_.node(maker);
  std::replace(node.outputs.begin(), node.outputs.end(), id, kNoValue);
  Value& value = graph_.value(id);
  value.producer = {};
  value.type.dtype = tensor.dtype();
  value.type.shape = SymShape(tensor.shape());
  value.constant = std::move(tensor);
  changed_ = true;
  erase_if_dead(maker);
}

void Rewriter::erase_if_dead(NodeId id) {
  std::vector<NodeId> candidates = {id};
  while (!candidates.empty()) {
    const NodeId candidate = candidates.back();
    candidates.pop_back();
    if (!graph_.alive(candidate)) continue;
    const std::vector<ValueId> outputs = graph_.node(candidate).outputs;
    const auto unused = [&](ValueId output) { return output == kNoValue || uses(output) == 0; };
    if (!std::all_of(outputs.begin(), outputs.end(), unused)) continue;
    each_use(graph_.node(candidate), [&](ValueId input) {
      if (const NodeId maker = producer(input); maker.valid()) candidates.push_back(maker);
    });
    remove_uses(candidate);
    graph_.erase(candidate);
    for (const ValueId output : outputs) {
      if (output != kNoValue) graph_.erase(output);
    }
    changed_ = true;
  }
}

void Rewriter::erase_keeping_outputs(NodeId id) {
  remove_uses(id);
  graph_.erase(id);
  changed_ = true;
}

void Rewriter::set_outputs(NodeId id, std::vector<ValueId> values) {
  Node& node = graph_.node(id);
  for (const ValueId old : node.outputs) {
    if (old != kNoValue && std::find(values.begin(), values.end(), old) == values.end()) graph_.erase(old);
  }
  for (const ValueId value : values) {
    if (value != kNoValue) graph_.value(value).producer = id;
  }
  node.outputs = std::move(values);
  changed_ = true;
}

}  // namespace nxrt::passes
