// Products of one value with several quantized weights (queries, keys and values; gate and up of a feed-forward layer)
// become one operator, nxrt.MatMulNBitsGroup, which quantizes the value once and shares out all their columns together.
// A gate and its up that only meet in nxrt.SiluMul take that in too. The weights stay where they are.
#include <algorithm>
#include <unordered_map>

#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {
namespace {

constexpr size_t kInputs = 5, kMostProducts = 8;  // of MatMulNBits without A; of a group
constexpr std::string_view kShared[] = {"K", "bits", "block_size", "accuracy_level"};
constexpr int64_t kDefaults[] = {-1, 4, -1, 0};

bool is_product(const Rewriter& edit, const Node& node) {
  if (node.op != "MatMulNBits" || node.domain != "com.microsoft" || node.inputs.size() < 3) return false;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != kNoValue && !edit.value(node.inputs[i]).constant) return false;
  }
  return true;
}

bool same_form(const Node& a, const Node& b) {
  for (size_t i = 0; i < std::size(kShared); ++i) {
    const std::string name(kShared[i]);
    if (integer(a, name, kDefaults[i]) != integer(b, name, kDefaults[i])) return false;
  }
  return true;
}

Node group_of(const Rewriter& edit, const std::vector<NodeId>& products) {
  const Node& first = edit.node(products[0]);
  Node group{.domain = "nxrt", .op = "MatMulNBitsGroup", .opset = 1, .inputs = {first.inputs[0]}};
  std::vector<int64_t> columns;
  for (const NodeId id : products) {
    const Node& product = edit.node(id);
    group.inputs.insert(group.inputs.end(), product.inputs.begin() + 1, product.inputs.end());
    group.inputs.resize(1 + kInputs * (columns.size() + 1), kNoValue);
    columns.push_back(integer(product, "N", -1));
  }
  for (const std::string_view name : kShared) {
    const auto found = first.attributes.find(std::string(name));
    if (found != first.attributes.end()) group.attributes.insert(*found);
  }
  group.attributes["N"] = std::move(columns);
  return group;
}

bool merge_gated(Rewriter& edit, NodeId id) {
  const Node& activation = edit.node(id);
  if (activation.op != "SiluMul" || activation.domain != "nxrt") return false;
  const std::vector<NodeId> products = {edit.producer(activation.inputs[0]), edit.producer(activation.inputs[1])};
  for (const ValueId input : activation.inputs) {
    if (!edit.producer(input, "MatMulNBits", "com.microsoft") || !edit.used_once(input)) return false;
  }
  const Node &gate = edit.node(products[0]), &up = edit.node(products[1]);
  if (!is_product(edit, gate) || !is_product(edit, up) || gate.inputs[0] != up.inputs[0] || !same_form(gate, up)) {
    return false;
  }
  Node group = group_of(edit, products);
  group.attributes["gated"] = int64_t{1};
  edit.become(id, std::move(group));
  return true;
}

// Products of the same value and form, in the order of the graph.
std::vector<std::vector<NodeId>> siblings(const Rewriter& edit) {
  std::vector<std::vector<NodeId>> groups;
  std::unordered_map<ValueId, std::vector<size_t>> groups_of;
  for (const NodeId id : edit.nodes()) {
    if (!is_product(edit, edit.node(id))) continue;
    std::vector<size_t>& candidates = groups_of[edit.node(id).inputs[0]];
    const auto fits = [&](size_t group) {
      return groups[group].size() < kMostProducts && same_form(edit.node(groups[group][0]), edit.node(id));
    };
    const auto found = std::find_if(candidates.begin(), candidates.end(), fits);
    if (found != candidates.end()) {
      groups[*found].push_back(id);
    } else {
      candidates.push_back(groups.size());
      groups.push_back({id});
    }
  }
  return groups;
}

// The group stands where its first product stood: all it reads exists there, and everyone reads its outputs later.
void merge(Rewriter& edit, const std::vector<NodeId>& products) {
  std::vector<ValueId> outputs;
  for (const NodeId id : products) outputs.push_back(edit.node(id).outputs[0]);
  Node group = group_of(edit, products);
  edit.become(products[0], std::move(group));
  for (size_t i = 1; i < products.size(); ++i) edit.erase_keeping_outputs(products[i]);
  edit.set_outputs(products[0], std::move(outputs));
}

}  // namespace

bool merge_matmul_nbits(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (edit.alive(id)) merge_gated(edit, id);
  }
  for (const std::vector<NodeId>& products : siblings(edit)) {
    if (products.size() > 1) merge(edit, products);
  }
  return edit.changed();
}

}  // namespace nxrt::passes
