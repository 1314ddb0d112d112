#include "onnx/graph_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "onnx/type_reader.h"

namespace nxrt::onnx {
namespace {

std::string_view bytes_in(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes())};
}

void entry(WireWriter& out, uint32_t field, const std::string& key, const std::string& value) {
  WireWriter pair;
  pair.text(1, key);
  pair.text(2, value);
  out.message(field, pair);
}

// A symbol is written by its name where that reads back as the symbol, else quoted.
std::string param_of(const Dim& dim) {
  const auto symbol = dim.as_symbol();
  return symbol && dim_of_param(*symbol) == dim ? *symbol : dim.text();
}

// AttributeProto.AttributeType.
enum AttributeType { kFloat = 1, kInt, kString, kTensor, kGraph, kFloats, kInts, kStrings };

}  // namespace

GraphWriter::Names GraphWriter::names_of(const Graph& graph, const Names* outer) {
  Names names{.outer = outer};
  for (const auto& [inner, captured] : graph.captures()) names.of[inner] = outer->of.at(captured);
  for (const ValueId id : graph.values()) {
    if (names.of.contains(id)) continue;
    const std::string& base = graph.value(id).name;
    std::string name = base;
    for (int i = 1; names.visible(name); ++i) name = fmt::format("{}_{}", base, i);
    names.taken.insert(name);
    names.of[id] = std::move(name);
  }
  return names;
}

WireWriter GraphWriter::graph(const Graph& graph, const Names* outer) {
  const Names names = names_of(graph, outer);
  WireWriter out;
  for (const NodeId id : graph.order()) out.message(1, node(graph.node(id), names));
  out.text(2, graph.name.empty() ? "graph" : graph.name);  // onnx wants a name
  for (const ValueId id : graph.values()) {
    const Value& value = graph.value(id);
    if (value.constant) out.message(5, constant(value, names.of.at(id)));
  }
  for (const ValueId id : graph.inputs()) out.message(11, value_info(graph.value(id), names.of.at(id)));
  for (const ValueId id : graph.outputs()) out.message(12, value_info(graph.value(id), names.of.at(id)));
  for (const ValueId id : graph.values()) {
    const Value& value = graph.value(id);
    const bool typed = value.type.dtype != DType::none || value.type.shape;
    if (value.producer.valid() && typed && !graph.is_output(id)) out.message(13, value_info(value, names.of.at(id)));
  }
  return out;
}

WireWriter GraphWriter::node(const Node& node, const Names& names) {
  import_opset(node);
  WireWriter out;
  for (const ValueId id : node.inputs) out.text(1, id == kNoValue ? "" : names.of.at(id));
  for (const ValueId id : node.outputs) out.text(2, id == kNoValue ? "" : names.of.at(id));
  out.text_unless_empty(3, node.name);
  out.text(4, node.op);
  for (const auto& [name, value] : node.attributes) out.message(5, attribute(name, value, names));
  out.text_unless_empty(7, node.domain);
  return out;
}

void GraphWriter::import_opset(const Node& node) {
  const auto [it, fresh] = opsets_.emplace(node.domain, node.opset);
  if (fresh || it->second == node.opset) return;
  throw Error(Code::unsupported,
              fmt::format("the node is of opset {}, another one of the domain '{}' of opset {}", node.opset,
                          node.domain, it->second),
              place_of(node), "an ONNX file has one opset per domain: convert the model's functions to its opset");
}

WireWriter GraphWriter::attribute(const std::string& name, const Attribute& attribute, const Names& names) {
  WireWriter out;
  out.text(1, name);
  AttributeType type{};
  if (const auto* real = std::get_if<float>(&attribute)) {
    type = kFloat, out.f32(2, *real);
  } else if (const auto* integer = std::get_if<int64_t>(&attribute)) {
    type = kInt, out.integer(3, *integer);
  } else if (const auto* text = std::get_if<std::string>(&attribute)) {
    type = kString, out.text(4, *text);
  } else if (const auto* constant = std::get_if<Tensor>(&attribute)) {
    type = kTensor, out.message(5, tensor("", *constant));
  } else if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) {
    type = kGraph, out.message(6, graph(**body, &names));
  } else if (const auto* reals = std::get_if<std::vector<float>>(&attribute)) {
    type = kFloats;
    for (const float value : *reals) out.f32(7, value);
  } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&attribute)) {
    type = kInts;
    for (const int64_t value : *integers) out.integer(8, value);
  } else {
    type = kStrings;
    for (const std::string& value : std::get<std::vector<std::string>>(attribute)) out.text(9, value);
  }
  out.integer(20, type);
  return out;
}

WireWriter GraphWriter::tensor(const std::string& name, const Tensor& tensor) {
  WireWriter out;
  for (const int64_t dim : tensor.shape().dims()) out.integer(1, dim);
  out.integer(2, number_of(tensor.dtype()));
  out.text_unless_empty(8, name);
  out.text(9, bytes_in(tensor));
  return out;
}

WireWriter GraphWriter::constant(const Value& value, const std::string& name) {
  const auto external = store_(value);
  if (!external) return tensor(name, *value.constant);
  WireWriter out;
  for (const int64_t dim : value.constant->shape().dims()) out.integer(1, dim);
  out.integer(2, number_of(value.constant->dtype()));
  out.text(8, name);
  entry(out, 13, "location", external->file);
  entry(out, 13, "offset", fmt::format("{}", external->offset));
  entry(out, 13, "length", fmt::format("{}", external->length));
  out.integer(14, 1);
  return out;
}

WireWriter GraphWriter::value_info(const Value& value, const std::string& name) {
  WireWriter out, type, tensor_type;
  out.text(1, name);
  if (value.type.dtype == DType::none && !value.type.shape) return out;
  if (value.type.dtype != DType::none) tensor_type.integer(1, number_of(value.type.dtype));
  if (value.type.shape) tensor_type.message(2, shape(*value.type.shape));
  type.message(1, tensor_type);
  out.message(2, type);
  return out;
}

WireWriter GraphWriter::shape(const SymShape& shape) {
  WireWriter out;
  for (const Dim& dim : shape.dims()) {
    WireWriter one;
    if (const auto size = dim.constant()) {
      one.integer(1, *size);
    } else if (dim.known()) {
      one.text(2, param_of(dim));
    }
    out.message(1, one);
  }
  return out;
}

int GraphWriter::number_of(DType dtype) {
  // The format version that brought the type.
  const int since = dtype >= DType::u2 ? 13 : dtype == DType::f8e8m0 ? 12 : dtype == DType::f4e2m1 ? 11 : 10;
  ir_version_ = std::max(ir_version_, since);
  return static_cast<int>(dtype);
}

}  // namespace nxrt::onnx
