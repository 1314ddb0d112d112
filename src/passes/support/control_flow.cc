#include "passes/support/control_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "passes/support/typing.h"

namespace nxrt::passes {
namespace {

void type_captures(const Graph& graph, Graph& inner) {
  for (const Graph::Capture& capture : inner.captures())
    inner.value(capture.inner).type = graph.value(capture.outer).type;
}

// What is true of both: the type after an If, or of a value carried from one iteration to the next.
TensorType common(const TensorType& a, const TensorType& b, const std::string& at) {
  TensorType both = without_symbols(a);
  if (both.dtype == DType::none) both.dtype = b.dtype;
  if (b.dtype != DType::none && b.dtype != both.dtype) {
    throw Error(Code::invalid_argument, fmt::format("one branch gives {}, the other {}", a.text(), b.text()), at);
  }
  if (!both.shape || !b.shape || both.shape->rank() != b.shape->rank()) {
    both.shape.reset();
    return both;
  }
  for (int axis = 0; axis < both.shape->rank(); ++axis) {
    if (!same((*both.shape)[axis], (*b.shape)[axis])) (*both.shape)[axis] = Dim::unknown();
  }
  return both;
}

void expect_outputs(const Graph& inner, size_t count, const std::string& at) {
  if (inner.outputs().size() == count) return;
  throw Error(Code::corrupt, fmt::format("the subgraph has {} outputs, expected {}", inner.outputs().size(), count),
              at);
}

std::vector<TensorType> infer_if(const Graph& graph, const Node& node, const std::string& where) {
  const std::string at = place(where, place_of(node));
  std::vector<TensorType> types;
  for (const char* branch : {"then_branch", "else_branch"}) {
    Graph& inner = *subgraph(node, branch, where);
    expect_outputs(inner, node.outputs.size(), at);
    type_captures(graph, inner);
    infer_types(inner, at);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorType& type = inner.value(inner.outputs()[i]).type;
      if (types.size() <= i) {
        types.push_back(without_symbols(type));
      } else {
        types[i] = common(types[i], type, at);
      }
    }
  }
  return types;
}

// An element of the sequence a scan output collects, or a scan input gives: the type without its scanned axis.
TensorType with_leading_dim(TensorType type) {
  type = without_symbols(std::move(type));
  if (!type.shape) return type;
  std::vector<Dim> dims = type.shape->dims();
  dims.insert(dims.begin(), Dim::unknown());
  type.shape = SymShape(std::move(dims));
  return type;
}

// A carried value may change its shape from one iteration to the next: only its element type and rank are certain.
TensorType carried(const TensorType& initial) {
  TensorType type;
  type.dtype = initial.dtype;
  if (initial.shape) type.shape = SymShape(std::vector<Dim>(initial.shape->dims().size()));
  return type;
}

std::vector<TensorType> infer_loop(const Graph& graph, const Node& node, const std::string& where) {
  const std::string at = place(where, place_of(node));
  Graph& body = *subgraph(node, "body", where);
  const size_t state = node.inputs.size() < 2 ? 0 : node.inputs.size() - 2;
  if (body.inputs().size() != state + 2 || body.outputs().size() < state + 1) {
    throw Error(Code::corrupt,
                fmt::format("the loop body has {} inputs and {} outputs, expected {} and at least {}",
                            body.inputs().size(), body.outputs().size(), state + 2, state + 1),
                at);
  }
  type_captures(graph, body);
  body.value(body.inputs()[0]).type = {DType::i64, SymShape{}, {}};
  body.value(body.inputs()[1]).type = {DType::boolean, SymShape{}, {}};
  for (size_t i = 0; i < state; ++i) {
    if (node.inputs[i + 2] == kNoValue) continue;
    body.value(body.inputs()[i + 2]).type = carried(graph.value(node.inputs[i + 2]).type);
  }
  infer_types(body, at);
  std::vector<TensorType> types;
  for (size_t i = 1; i < body.outputs().size(); ++i) {
    const TensorType& type = body.value(body.outputs()[i]).type;
    types.push_back(i <= state ? carried(type) : with_leading_dim(type));
  }
  return types;
}

// Of a Scan only its own signature types the body; its axes are checked by the run.
std::vector<TensorType> infer_scan(const Graph& graph, const Node& node, const std::string& where) {
  Graph& body = *subgraph(node, "body", where);
  const auto found = node.attributes.find("num_scan_inputs");
  const int64_t* scans = found == node.attributes.end() ? nullptr : std::get_if<int64_t>(&found->second);
  const std::string at = place(where, place_of(node));
  const auto inputs = static_cast<int64_t>(node.inputs.size());
  if (!scans || *scans < 1 || *scans > inputs || body.inputs().size() != node.inputs.size()) {
    throw Error(Code::corrupt, "num_scan_inputs or the number of body inputs is wrong", at);
  }
  type_captures(graph, body);
  const auto state = static_cast<size_t>(inputs - *scans);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    TensorType type = carried(graph.value(node.inputs[i]).type);
    if (i >= state && type.shape)
      type.shape = SymShape(std::vector<Dim>(std::max<size_t>(type.shape->dims().size(), 1) - 1));
    body.value(body.inputs()[i]).type = std::move(type);
  }
  infer_types(body, at);
  std::vector<TensorType> types;
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    const TensorType& type = body.value(body.outputs()[i]).type;
    types.push_back(i < state ? carried(type) : with_leading_dim(carried(type)));
  }
  return types;
}

}  // namespace

bool is_control_flow(const Node& node) {
  return (node.domain.empty() || node.domain == "ai.onnx") &&
         (node.op == "If" || node.op == "Loop" || node.op == "Scan");
}

const std::shared_ptr<Graph>& subgraph(const Node& node, const std::string& attribute, const std::string& where) {
  const auto found = node.attributes.find(attribute);
  const auto* graph = found == node.attributes.end() ? nullptr : std::get_if<std::shared_ptr<Graph>>(&found->second);
  if (!graph || !*graph) {
    throw Error(Code::corrupt, fmt::format("attribute '{}' is missing or not a graph", attribute),
                place(where, place_of(node)));
  }
  return *graph;
}

std::vector<TensorType> infer_control_flow(const Graph& graph, const Node& node, const std::string& where) {
  if (node.op == "If") return infer_if(graph, node, where);
  if (node.op == "Loop") return infer_loop(graph, node, where);
  return infer_scan(graph, node, where);
}

TensorType without_symbols(TensorType type) {
  type.elements.reset();
  if (!type.shape) return type;
  for (int axis = 0; axis < type.shape->rank(); ++axis) {
    Dim& dim = (*type.shape)[axis];
    if (!dim.is_constant()) dim = Dim::unknown();
  }
  return type;
}

}  // namespace nxrt::passes
