#include "graph/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace nxrt {
namespace {

template <class IdType>
[[noreturn]] void not_alive(const char* kind, IdType id) {
  throw Error(Code::internal, fmt::format("{} {} is not in the graph", kind, id.value));
}

template <class T, class IdType>
auto& slot(T& slots, const char* kind, IdType id) {
  if (!id.valid() || static_cast<size_t>(id.value) >= slots.size()) not_alive(kind, id);
  auto& entry = slots[static_cast<size_t>(id.value)];
  if (!entry) not_alive(kind, id);
  return *entry;
}

template <class T, class IdType>
bool holds(const T& slots, IdType id) {
  return id.valid() && static_cast<size_t>(id.value) < slots.size() && slots[static_cast<size_t>(id.value)];
}

template <class F>
void each_subgraph(const Node& node, F&& visit) {
  for (const auto& [name, attribute] : node.attributes) {
    if (const auto* graph = std::get_if<std::shared_ptr<Graph>>(&attribute)) visit(**graph);
  }
}

bool reads(const Node& node, ValueId id) {
  bool found = std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end();
  each_subgraph(node, [&](const Graph& inner) {
    for (const Graph::Capture& capture : inner.captures()) found = found || capture.outer == id;
  });
  return found;
}

}  // namespace

ValueId Graph::add_value(std::string value_name, TensorType type) {
  const ValueId id(static_cast<int32_t>(values_.size()));
  value_name = free_name(std::move(value_name));
  by_name_.emplace(value_name, id);
  values_.push_back(Value{.name = std::move(value_name), .type = std::move(type)});
  return id;
}

ValueId Graph::add_input(std::string value_name, TensorType type) {
  const ValueId id = add_value(std::move(value_name), std::move(type));
  inputs_.push_back(id);
  return id;
}

ValueId Graph::add_constant(std::string value_name, Tensor tensor) {
  const ValueId id = add_value(std::move(value_name), {.dtype = tensor.dtype(), .shape = SymShape(tensor.shape())});
  value(id).constant = std::move(tensor);
  return id;
}

NodeId Graph::add_node(Node node, const std::vector<std::string>& output_names, NodeId before) {
  const NodeId id(static_cast<int32_t>(nodes_.size()));
  const auto position = before.valid() ? std::find(order_.begin(), order_.end(), before) : order_.end();
  if (before.valid() && position == order_.end()) not_alive("node", before);
  if (node.opset == 0) {
    const auto import = opsets.find(node.domain);
    node.opset = import == opsets.end() ? 1 : import->second;
  }
  while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
  node.outputs.clear();
  for (const std::string& output : output_names) {
    node.outputs.push_back(output.empty() ? kNoValue : add_value(output));
    if (!output.empty()) value(node.outputs.back()).producer = id;
  }
  order_.insert(position, id);
  nodes_.push_back(std::move(node));
  return id;
}

void Graph::erase(NodeId id) {
  for (const ValueId output : node(id).outputs) {
    if (alive(output)) value(output).producer = {};
  }
  nodes_[static_cast<size_t>(id.value)].reset();
  std::erase(order_, id);
}

void Graph::erase(ValueId id) {
  if (is_output(id) || !users(id).empty()) {
    throw Error(Code::internal, fmt::format("value '{}' is erased while it is used", value(id).name));
  }
  by_name_.erase(value(id).name);
  std::erase(inputs_, id);
  std::erase_if(captures_, [id](const Capture& capture) { return capture.inner == id; });
  values_[static_cast<size_t>(id.value)].reset();
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (const NodeId id : order_) {
    Node& user = node(id);
    std::replace(user.inputs.begin(), user.inputs.end(), from, to);
    each_subgraph(user, [&](Graph& inner) {
      for (Capture& capture : inner.captures()) {
        if (capture.outer == from) capture.outer = to;
      }
    });
  }
  if (!is_output(from)) return;
  if (!is_input(to) && !is_output(to)) exchange_names(from, to);
  std::replace(outputs_.begin(), outputs_.end(), from, to);
}

void Graph::exchange_names(ValueId a, ValueId b) {
  std::swap(value(a).name, value(b).name);
  by_name_[value(a).name] = a;
  by_name_[value(b).name] = b;
}

void Graph::rename(ValueId id, std::string value_name) {
  if (value_name == value(id).name) return;
  by_name_.erase(value(id).name);
  value_name = free_name(std::move(value_name));
  by_name_.emplace(value_name, id);
  value(id).name = std::move(value_name);
}

std::string Graph::free_name(std::string wanted) {
  if (wanted.empty()) wanted = "v";
  if (!by_name_.contains(wanted)) return wanted;
  int& suffix = last_suffix_[wanted];
  std::string candidate;
  do {
    candidate = fmt::format("{}_{}", wanted, ++suffix);
  } while (by_name_.contains(candidate));
  return candidate;
}

std::string Graph::unique_name(std::string_view base) const {
  std::string candidate(base.empty() ? "v" : base);
  for (int i = 1; by_name_.contains(candidate); ++i) candidate = fmt::format("{}_{}", base.empty() ? "v" : base, i);
  return candidate;
}

Value& Graph::value(ValueId id) { return slot(values_, "value", id); }
const Value& Graph::value(ValueId id) const { return slot(values_, "value", id); }
Node& Graph::node(NodeId id) { return slot(nodes_, "node", id); }
const Node& Graph::node(NodeId id) const { return slot(nodes_, "node", id); }
bool Graph::alive(ValueId id) const { return holds(values_, id); }
bool Graph::alive(NodeId id) const { return holds(nodes_, id); }

int Graph::node_count() const {
  return static_cast<int>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.has_value(); }));
}

std::vector<ValueId> Graph::values() const {
  std::vector<ValueId> ids;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i]) ids.emplace_back(static_cast<int32_t>(i));
  }
  return ids;
}

ValueId Graph::find_value(std::string_view value_name) const {
  const auto it = by_name_.find(value_name);
  return it == by_name_.end() ? kNoValue : it->second;
}

std::vector<NodeId> Graph::users(ValueId id) const {
  std::vector<NodeId> found;
  for (const NodeId candidate : order_) {
    if (reads(node(candidate), id)) found.push_back(candidate);
  }
  return found;
}

bool Graph::is_output(ValueId id) const { return std::find(outputs_.begin(), outputs_.end(), id) != outputs_.end(); }
bool Graph::is_input(ValueId id) const { return std::find(inputs_.begin(), inputs_.end(), id) != inputs_.end(); }

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>(*this);
  for (auto& node : copy->nodes_) {
    if (!node) continue;
    for (auto& [attribute_name, attribute] : node->attributes) {
      auto* inner = std::get_if<std::shared_ptr<Graph>>(&attribute);
      if (inner) *inner = (*inner)->clone();
    }
  }
  return copy;
}

std::string place_of(const Node& node) { return fmt::format("node '{}' ({})", node.name, node.op); }

}  // namespace nxrt
