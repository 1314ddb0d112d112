// NodeProtos of one graph in topological order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "onnx/read_context.h"

namespace nxrt::onnx {

struct NodeFields {
  std::vector<std::string_view> inputs, outputs;  // trailing empty ones are dropped
  std::string_view name, op, domain, overload;
  std::vector<Bytes> attributes;
  // How errors call it: "node 'name' (Op)"; an unnamed node is called by its first output.
  std::string place() const;
  std::string_view title() const;
};

NodeFields read_node_fields(ReadContext& context, Bytes message);

// The file's order where that is topological already, else the first possible one. Also checks, before any weight is
// read, that the domain of every node is imported. `depth`: of the enclosing graphs.
// Errors: Error{corrupt} naming a node on a cycle, a value with two producers, a domain that is not imported.
std::vector<Bytes> in_topological_order(ReadContext& context, std::vector<Bytes> nodes,
                                        const std::map<std::string, int>& opsets, int depth);

}  // namespace nxrt::onnx
