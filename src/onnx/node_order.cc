#include "onnx/node_order.h"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace nxrt::onnx {
namespace {

using Names = std::vector<std::string_view>;

// What one name or edge costs in the tables below.
constexpr int64_t kNameBytes = 96;
constexpr size_t kMaxNodeFields = size_t{1} << 18;

void drop_trailing_empty(Names& names) {
  while (!names.empty() && names.back().empty()) names.pop_back();
}

// The names a node reads, those its bodies read from their surroundings included.
class Reads {
 public:
  Reads(ReadContext& context, const std::map<std::string, int>& opsets) : context_(context), opsets_(opsets) {}
  ~Reads() { context_.budget.release(charged_); }
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;

  void of_node(const NodeFields& node, int depth, Names& reads) {
    if (!opsets_.contains(canonical_domain(node.domain))) {
      context_.fail(Code::corrupt, fmt::format("the opset of domain '{}' is not imported", node.domain), node.place(),
                    "add the domain to the model's opset_import");
    }
    charge(static_cast<int64_t>(node.inputs.size() + node.outputs.size()));
    for (const auto input : node.inputs) {
      if (!input.empty()) reads.push_back(input);
    }
    for (const Bytes attribute : node.attributes) {
      for (WireReader in(context_.source, attribute); const auto field = in.next();) {
        if (field->number == 6) of_graph(field->bytes(), depth + 1, reads);
      }
    }
  }

 private:
  void of_graph(Bytes message, int depth, Names& reads) {
    if (depth > context_.limits.max_depth) {
      context_.fail(Code::out_of_capacity,
                    fmt::format("graphs are nested more than {} deep", context_.limits.max_depth), "");
    }
    Names inner;
    std::unordered_set<std::string_view> own;
    for (WireReader in(context_.source, message); const auto field = in.next();) {
      if (field->number == 1) {
        const NodeFields node = read_node_fields(context_, field->bytes());
        of_node(node, depth, inner);
        own.insert(node.outputs.begin(), node.outputs.end());
      }
      if (field->number == 5) own.insert(name_in(field->bytes(), 8));
      if (field->number == 11) own.insert(name_in(field->bytes(), 1));
      if (field->number == 12) inner.push_back(name_in(field->bytes(), 1));
      charge(1);
    }
    for (const auto name : inner) {
      if (!own.contains(name)) reads.push_back(name);
    }
  }

  std::string_view name_in(Bytes message, uint32_t number) {
    std::string_view name;
    for (WireReader in(context_.source, message); const auto field = in.next();) {
      if (field->number == number) name = field->text();
    }
    return name;
  }

  void charge(int64_t names) {
    context_.budget.charge(names * kNameBytes);
    charged_ += names * kNameBytes;
  }

  ReadContext& context_;
  const std::map<std::string, int>& opsets_;
  int64_t charged_ = 0;
};

// Kahn's algorithm; among nodes that are ready the first in the file goes first.
class Sorter {
 public:
  Sorter(ReadContext& context, const std::map<std::string, int>& opsets, int depth)
      : context_(context), reads_(context, opsets), depth_(depth) {}

  std::vector<Bytes> sort(std::vector<Bytes> nodes) {
    link(nodes);
    if (sorted_) return nodes;
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (waits_for_[i] == 0) ready.push(i);
    }
    std::vector<Bytes> order;
    while (!ready.empty()) {
      const size_t next = ready.top();
      ready.pop();
      order.push_back(nodes[next]);
      for (const size_t reader : readers_[next]) {
        if (--waits_for_[reader] == 0) ready.push(reader);
      }
    }
    if (order.size() != nodes.size()) report_cycle(nodes);
    return order;
  }

 private:
  void link(const std::vector<Bytes>& nodes) {
    std::vector<Names> reads(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const NodeFields node = read_node_fields(context_, nodes[i]);
      reads_.of_node(node, depth_, reads[i]);
      for (const auto output : node.outputs) {
        if (output.empty() || producer_.emplace(output, i).second) continue;
        context_.fail(Code::corrupt, fmt::format("value '{}' has two producers", output), node.place());
      }
    }
    waits_for_.resize(nodes.size());
    readers_.resize(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const auto name : reads[i]) {
        const auto producer = producer_.find(name);
        if (producer == producer_.end()) continue;
        sorted_ = sorted_ && producer->second < i;
        readers_[producer->second].push_back(i);
        ++waits_for_[i];
      }
    }
  }

  [[noreturn]] void report_cycle(const std::vector<Bytes>& nodes) {
    size_t i = 0;
    while (waits_for_[i] == 0) ++i;
    context_.fail(Code::corrupt, "the node depends on its own output", read_node_fields(context_, nodes[i]).place());
  }

  ReadContext& context_;
  Reads reads_;
  int depth_;
  bool sorted_ = true;
  std::unordered_map<std::string_view, size_t> producer_;
  std::vector<size_t> waits_for_;
  std::vector<std::vector<size_t>> readers_;
};

}  // namespace

std::string NodeFields::place() const { return fmt::format("node '{}' ({})", title(), op); }

std::string_view NodeFields::title() const {
  if (!name.empty()) return name;
  for (const auto output : outputs) {
    if (!output.empty()) return output;
  }
  return {};
}

NodeFields read_node_fields(ReadContext& context, Bytes message) {
  NodeFields node;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    switch (field->number) {
      case 1: node.inputs.push_back(field->text()); break;
      case 2: node.outputs.push_back(field->text()); break;
      case 3: node.name = field->text(); break;
      case 4: node.op = field->text(); break;
      case 5: node.attributes.push_back(field->bytes()); break;
      case 7: node.domain = field->text(); break;
      case 8: node.overload = field->text(); break;
      default: break;
    }
  }
  drop_trailing_empty(node.inputs);
  drop_trailing_empty(node.outputs);
  if (node.inputs.size() + node.outputs.size() + node.attributes.size() > kMaxNodeFields) {
    context.fail(Code::out_of_capacity,
                 fmt::format("the node has more than {} inputs, outputs and attributes", kMaxNodeFields), node.place());
  }
  if (node.op.empty()) context.fail(Code::corrupt, "the node names no operator", node.place());
  return node;
}

std::vector<Bytes> in_topological_order(ReadContext& context, std::vector<Bytes> nodes,
                                        const std::map<std::string, int>& opsets, int depth) {
  return Sorter(context, opsets, depth).sort(std::move(nodes));
}

}  // namespace nxrt::onnx
