#include "onnx/graph_reader.h"

#include <fmt/format.h>

#include "onnx/attribute_reader.h"
#include "onnx/tensor_reader.h"
#include "onnx/type_reader.h"

namespace nxrt::onnx {
namespace {

// What a node, a value, an attribute or a table entry takes in memory, roughly.
constexpr int64_t kNodeBytes = 320, kValueBytes = 320, kEntryBytes = 128;

int64_t size_of(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return static_cast<int64_t>(text->size());
  if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute)) return static_cast<int64_t>(list->size() * 8);
  if (const auto* list = std::get_if<std::vector<float>>(&attribute)) return static_cast<int64_t>(list->size() * 4);
  int64_t bytes = 0;
  if (const auto* list = std::get_if<std::vector<std::string>>(&attribute)) {
    for (const std::string& text : *list) bytes += static_cast<int64_t>(sizeof text + text.size());
  }
  return bytes;
}

}  // namespace

struct GraphReader::GraphFields {
  std::vector<Bytes> nodes, initializers, sparse_initializers;
  std::vector<NamedType> inputs, outputs, infos;
  std::string_view name;
};

GraphReader::GraphFields GraphReader::read_graph_fields(Bytes message) {
  GraphFields fields;
  for (WireReader in(context_.source, message); const auto field = in.next();) {
    context_.budget.charge(2 * sizeof(Bytes));
    const auto value_info = [&] {
      context_.budget.charge(3 * kEntryBytes);
      return read_value_info(context_, field->bytes(), "");
    };
    switch (field->number) {
      case 1: fields.nodes.push_back(field->bytes()); break;
      case 2: fields.name = field->text(); break;
      case 5: fields.initializers.push_back(field->bytes()); break;
      case 11: fields.inputs.push_back(value_info()); break;
      case 12: fields.outputs.push_back(value_info()); break;
      case 13: fields.infos.push_back(value_info()); break;
      case 15: fields.sparse_initializers.push_back(field->bytes()); break;
      default: break;
    }
  }
  return fields;
}

void GraphReader::read_graph(Bytes message, Scope& scope) {
  GraphFields fields = read_graph_fields(message);
  scope.graph.name = fields.name;
  fields.nodes = in_topological_order(context_, std::move(fields.nodes), scope.opsets, scope.depth);
  for (const auto* list : {&fields.infos, &fields.outputs}) {
    for (const NamedType& value : *list) scope.hints[value.name] = value.type;
  }
  read_constants(fields, scope);
  read_inputs(fields, scope);
  for (const Bytes node : fields.nodes) read_node(node, scope);
  for (const NamedType& output : fields.outputs) {
    const ValueId id = find(output.name, scope);
    if (id == kNoValue) {
      context_.fail(Code::corrupt, "nothing produces this graph output", fmt::format("output '{}'", output.name));
    }
    scope.graph.outputs().push_back(id);
  }
}

void GraphReader::read_constants(const GraphFields& fields, Scope& scope) {
  const auto add = [&](NamedTensor constant, std::string_view name) {
    context_.budget.charge(kValueBytes);
    const std::string at = fmt::format("tensor '{}'", name);
    if (name.empty()) context_.fail(Code::corrupt, "an initializer has no name", scope.prefix + at);
    define(name, scope.graph.add_constant(scope.name_of(name), std::move(constant.tensor)), scope, at);
  };
  const auto stored_name = [&](Bytes message) {
    std::string_view name;
    for (WireReader in(context_.source, message); const auto field = in.next();) {
      if (field->number == 8) name = field->text();
    }
    return name;
  };
  for (const Bytes message : fields.initializers) add(read_tensor(context_, message, ""), stored_name(message));
  for (const Bytes message : fields.sparse_initializers) {
    std::string_view name;
    for (WireReader in(context_.source, message); const auto field = in.next();) {
      if (field->number == 1) name = stored_name(field->bytes());
    }
    add(read_sparse_tensor(context_, message, ""), name);
  }
}

// An input with an initializer of the same name is a constant: files before format version 4 list them all as inputs.
void GraphReader::read_inputs(const GraphFields& fields, Scope& scope) {
  for (const NamedType& input : fields.inputs) {
    const std::string at = fmt::format("input '{}'", input.name);
    if (input.name.empty()) context_.fail(Code::corrupt, "a graph input has no name", at);
    const auto known = scope.values.find(input.name);
    if (known != scope.values.end() && scope.graph.value(known->second).constant) continue;
    if (!input.kind.empty() && input.kind != "tensor") {
      context_.fail(Code::unsupported, fmt::format("the input is a {}, expected a tensor", input.kind), at);
    }
    context_.budget.charge(kValueBytes);
    define(input.name, scope.graph.add_input(scope.name_of(input.name), input.type), scope, at);
  }
}

void GraphReader::read_node(Bytes message, Scope& scope) {
  const NodeFields fields = read_node_fields(context_, message);
  if (++context_.nodes > context_.limits.max_nodes) {
    context_.fail(Code::out_of_capacity, fmt::format("the model has more than {} nodes", context_.limits.max_nodes),
                  fields.place());
  }
  const auto function =
      context_.functions.find({canonical_domain(fields.domain), std::string(fields.op), std::string(fields.overload)});
  if (function != context_.functions.end()) {
    inline_call(fields, function->second, scope);
  } else {
    add_node(fields, scope);
  }
}

void GraphReader::add_node(const NodeFields& fields, Scope& scope) {
  Node node;
  node.domain = canonical_domain(fields.domain);
  node.op = fields.op;
  node.opset = scope.opsets.at(node.domain);
  node.name = scope.prefix + std::string(fields.title());
  node.inputs = read_node_inputs(fields, scope);
  node.attributes = read_attributes(fields, scope);
  std::vector<std::string> names;
  for (const auto output : fields.outputs) names.push_back(output.empty() ? "" : scope.name_of(output));
  context_.budget.charge(kNodeBytes + static_cast<int64_t>(fields.outputs.size()) *
                                          (kValueBytes + 2 * static_cast<int64_t>(scope.prefix.size())));
  const NodeId id = scope.graph.add_node(std::move(node), names);
  for (size_t i = 0; i < fields.outputs.size(); ++i) {
    if (!fields.outputs[i].empty()) define(fields.outputs[i], scope.graph.node(id).outputs[i], scope, fields.place());
  }
}

std::vector<ValueId> GraphReader::read_node_inputs(const NodeFields& fields, Scope& scope) {
  std::vector<ValueId> inputs;
  for (const auto input : fields.inputs) {
    inputs.push_back(kNoValue);
    if (input.empty()) continue;
    inputs.back() = find(input, scope);
    // A function's optional parameter that the call leaves out is known, but has no value.
    if (inputs.back() == kNoValue && !scope.values.contains(input)) {
      context_.fail(Code::corrupt, fmt::format("input '{}' is no input, initializer or output of a node", input),
                    fields.place());
    }
  }
  return inputs;
}

std::map<std::string, Attribute> GraphReader::read_attributes(const NodeFields& fields, Scope& scope) {
  std::map<std::string, Attribute> attributes;
  const std::string at = fields.place();
  for (const Bytes message : fields.attributes) {
    AttributeFields attribute = read_attribute(context_, message, at);
    if (!attribute.reference.empty()) {
      if (!scope.call) {
        context_.fail(Code::corrupt, fmt::format("attribute '{}' refers to a function's, outside one", attribute.name),
                      at);
      }
      const auto given = scope.call->attributes.find(attribute.reference);
      if (given == scope.call->attributes.end()) continue;
      attribute.value = given->second;
    } else if (attribute.body) {
      attribute.value = read_body(*attribute.body, scope);
    }
    context_.budget.charge(kEntryBytes + size_of(attribute.value));
    if (!attributes.emplace(attribute.name, std::move(attribute.value)).second) {
      context_.fail(Code::corrupt, fmt::format("attribute '{}' is given twice", attribute.name), at);
    }
  }
  return attributes;
}

std::shared_ptr<Graph> GraphReader::read_body(Bytes message, Scope& outer) {
  if (outer.depth >= context_.limits.max_depth) {
    context_.fail(Code::out_of_capacity,
                  fmt::format("graphs and functions are nested more than {} deep", context_.limits.max_depth), "");
  }
  context_.budget.charge(static_cast<int64_t>(sizeof(Graph)) + kEntryBytes * static_cast<int64_t>(outer.opsets.size()));
  auto graph = std::make_shared<Graph>();
  graph->opsets = outer.graph.opsets;
  Scope scope{.graph = *graph, .outer = &outer, .opsets = outer.opsets, .call = outer.call, .depth = outer.depth + 1};
  read_graph(message, scope);
  return graph;
}

void GraphReader::inline_call(const NodeFields& fields, const Function& function, Scope& scope) {
  const std::string at = fields.place();
  for (const Call* call = scope.call; call; call = call->caller) {
    if (&call->function == &function) {
      context_.fail(Code::corrupt, fmt::format("function '{}' calls itself", function.name), at);
    }
  }
  if (scope.depth >= context_.limits.max_depth) {
    context_.fail(Code::out_of_capacity,
                  fmt::format("graphs and functions are nested more than {} deep", context_.limits.max_depth), at);
  }
  if (fields.inputs.size() > function.inputs.size() || fields.outputs.size() > function.outputs.size()) {
    context_.fail(
        Code::corrupt,
        fmt::format("the call has {} inputs and {} outputs, but function '{}' has {} and {}", fields.inputs.size(),
                    fields.outputs.size(), function.name, function.inputs.size(), function.outputs.size()),
        at);
  }
  std::map<std::string, Attribute> attributes = read_attributes(fields, scope);
  for (const auto& [name, message] : function.defaults) {
    if (attributes.contains(std::string(name))) continue;
    AttributeFields fallback = read_attribute(context_, message, at);
    if (fallback.body || !fallback.reference.empty()) {
      context_.fail(Code::unsupported, fmt::format("the default of attribute '{}' is no plain value", name), at);
    }
    attributes.emplace(name, std::move(fallback.value));
  }
  for (const auto& [name, value] : attributes) {
    if (std::holds_alternative<std::shared_ptr<Graph>>(value)) {
      context_.fail(Code::unsupported, fmt::format("attribute '{}' gives a graph to a function", name), at);
    }
  }
  const Call call{function, attributes, scope.call};
  Scope body{.graph = scope.graph, .opsets = function.opsets, .call = &call, .depth = scope.depth + 1};
  body.prefix = scope.name_of(fields.title()) + "::";
  context_.budget.charge(kEntryBytes * static_cast<int64_t>(function.inputs.size() + function.outputs.size()));
  const std::vector<ValueId> inputs = read_node_inputs(fields, scope);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    body.values[function.inputs[i]] = i < inputs.size() ? inputs[i] : kNoValue;
  }
  for (size_t i = 0; i < fields.outputs.size(); ++i) {
    if (!fields.outputs[i].empty()) body.renamed.emplace(function.outputs[i], scope.name_of(fields.outputs[i]));
  }
  for (const Bytes node : function.nodes) read_node(node, body);
  bind_outputs(fields, function, body, scope);
}

// An output that is a parameter handed through, or one listed twice, is copied: each value has one name.
void GraphReader::bind_outputs(const NodeFields& fields, const Function& function, Scope& body, Scope& scope) {
  for (size_t i = 0; i < fields.outputs.size(); ++i) {
    if (fields.outputs[i].empty()) continue;
    ValueId id = find(function.outputs[i], body);
    if (id == kNoValue) {
      context_.fail(Code::corrupt,
                    fmt::format("function '{}' never defines its output '{}'", function.name, function.outputs[i]),
                    fields.place());
    }
    const std::string wanted = scope.name_of(fields.outputs[i]);
    if (scope.graph.value(id).name != wanted) {
      context_.budget.charge(kNodeBytes + kValueBytes);
      const NodeId copy = scope.graph.add_node({.name = wanted, .op = "Identity", .inputs = {id}}, {wanted});
      id = scope.graph.node(copy).outputs[0];
    }
    define(fields.outputs[i], id, scope, fields.place());
  }
}

ValueId GraphReader::find(std::string_view name, Scope& scope) {
  const auto known = scope.values.find(name);
  if (known != scope.values.end()) return known->second;
  if (!scope.outer) return kNoValue;
  const ValueId outside = find(name, *scope.outer);
  if (outside == kNoValue) return kNoValue;
  context_.budget.charge(kValueBytes);
  const ValueId inner = scope.graph.add_value(std::string(name), scope.outer->graph.value(outside).type);
  scope.graph.captures().push_back({inner, outside});
  scope.values.emplace(name, inner);
  return inner;
}

void GraphReader::define(std::string_view name, ValueId id, Scope& scope, const std::string& at) {
  context_.budget.charge(kEntryBytes);
  if (!scope.values.emplace(name, id).second) {
    context_.fail(Code::corrupt, fmt::format("value '{}' is defined twice", name), at);
  }
  Value& value = scope.graph.value(id);
  const auto hint = scope.hints.find(name);
  const bool untyped = value.type.dtype == DType::none && !value.type.shape;
  if (hint != scope.hints.end() && untyped && !value.constant) value.type = hint->second;
}

}  // namespace nxrt::onnx
