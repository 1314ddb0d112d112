#include "support/random_structure.h"

#include <fmt/format.h>

namespace nxrt::test {
namespace {

int pick(int below) { return *rc::gen::inRange(0, below); }

std::string random_name() {
  static const std::vector<std::string> kNames = {"x", "/layers.0/mlp/MatMul_output_0", "a b", "f32", "as", "ü\"\\",
                                                  "t"};
  return kNames[static_cast<size_t>(pick(static_cast<int>(kNames.size())))];
}

Dim random_dim() {
  switch (pick(5)) {
    case 0: return Dim::unknown();
    case 1: return Dim::symbol("batch-size");
    case 2: return Dim::symbol("S") * Dim(pick(3) + 1) + Dim::symbol("past, len") - Dim(pick(4));
    case 3: return Dim::symbol("B");
    default: return pick(7);
  }
}

TensorType random_type() {
  TensorType type{.dtype = static_cast<DType>(pick(kDTypeCount))};
  if (pick(4) == 0) return type;
  std::vector<Dim> dims;
  for (int i = pick(4); i > 0; --i) dims.push_back(random_dim());
  type.shape = SymShape(std::move(dims));
  return type;
}

// Bytes that print and parse back: no NaN, bools of 0 and 1, no bits beyond the last element.
Tensor random_tensor() {
  DType dtype = static_cast<DType>(1 + pick(kDTypeCount - 1));
  if (dtype == DType::string) dtype = DType::i64;
  const Shape shape = pick(4) == 0 ? Shape{} : Shape{pick(4), 1 + pick(3)};
  Tensor tensor = Tensor::zeros(dtype, shape);
  auto* bytes = static_cast<uint8_t*>(tensor.raw_mutable());
  for (int64_t i = 0; i < tensor.bytes(); ++i) bytes[i] = static_cast<uint8_t>(pick(dtype == DType::boolean ? 2 : 120));
  if (bits_of(dtype) < 8 && tensor.bytes() > 0) {
    const int64_t used = tensor.count() * bits_of(dtype) % 8;
    if (used) bytes[tensor.bytes() - 1] = static_cast<uint8_t>(bytes[tensor.bytes() - 1] & ((1 << used) - 1));
  }
  return tensor;
}

// Names of a body differ from those around it: a file can't say otherwise.
std::string value_name(int depth) {
  return fmt::format("{}{}", std::string(static_cast<size_t>(9 - depth), '_'), random_name());
}

ValueId random_value(const Graph& graph) {
  const auto values = graph.values();
  return values.empty() ? kNoValue : values[static_cast<size_t>(pick(static_cast<int>(values.size())))];
}

std::shared_ptr<Graph> random_body(Graph& outer, int depth) {
  std::shared_ptr<Graph> body = random_structure(depth - 1);
  body->opsets = outer.opsets;
  body->metadata.clear();
  for (int i = pick(3); i > 0; --i) {
    const ValueId captured = random_value(outer);
    if (captured == kNoValue || body->find_value(outer.value(captured).name) != kNoValue) continue;
    const ValueId inner = body->add_value(outer.value(captured).name, outer.value(captured).type);
    body->captures().push_back({inner, captured});
    body->outputs().push_back(inner);
  }
  return body;
}

Attribute random_attribute(Graph& graph, int depth) {
  switch (pick(depth > 0 ? 8 : 7)) {
    case 0: return *rc::gen::arbitrary<int64_t>();
    case 1: return static_cast<float>(pick(1000)) / 7;
    case 2: return random_name() + std::string("\0\n\x01", 3);
    case 3: return random_tensor();
    case 4: return *rc::gen::container<std::vector<int64_t>>(rc::gen::arbitrary<int64_t>());
    case 5: return std::vector<float>(static_cast<size_t>(pick(3)), -0.5f);
    case 6: return std::vector<std::string>(static_cast<size_t>(pick(3)), random_name());
    default: return random_body(graph, depth);
  }
}

void add_random_node(Graph& graph, int depth) {
  Node node;
  node.domain = pick(2) ? "" : "com.microsoft";
  node.op = pick(4) ? "Op" : "strange.op";
  for (int i = pick(4); i > 0; --i) node.inputs.push_back(pick(4) ? random_value(graph) : kNoValue);
  for (int i = pick(3); i > 0; --i) {
    const std::string name = pick(2) ? "a" : random_name();
    node.attributes[name] = random_attribute(graph, depth);
  }
  std::vector<std::string> outputs;
  for (int i = pick(3); i > 0; --i) outputs.push_back(pick(4) ? graph.unique_name(value_name(depth)) : "");
  outputs.push_back(graph.unique_name(value_name(depth) + "!"));
  node.name = pick(2) ? "node " + outputs.back() : "";
  const NodeId id = graph.add_node(std::move(node), outputs);
  for (const ValueId output : graph.node(id).outputs) {
    if (output != kNoValue) graph.value(output).type = random_type();
  }
  // A file has no unnamed nodes: they are called by their first output.
  Node& made = graph.node(id);
  for (size_t i = 0; made.name.empty(); ++i) {
    if (made.outputs[i] != kNoValue) made.name = graph.value(made.outputs[i]).name;
  }
}

}  // namespace

std::unique_ptr<Graph> random_structure(int depth) {
  auto graph = std::make_unique<Graph>();
  graph->name = random_name();
  graph->opsets = {{"", 17}, {"com.microsoft", 1}};
  graph->metadata["key"] = random_name();
  for (int i = pick(3); i > 0; --i) graph->add_input(value_name(depth), random_type());
  for (int i = pick(3); i > 0; --i) graph->add_constant(value_name(depth), random_tensor());
  for (int i = pick(5); i > 0; --i) add_random_node(*graph, depth);
  for (int i = pick(3); i > 0; --i) {
    const ValueId output = random_value(*graph);
    if (output != kNoValue) graph->outputs().push_back(output);
  }
  return graph;
}

}  // namespace nxrt::test
