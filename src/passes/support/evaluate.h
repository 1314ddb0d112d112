// Runs one node on concrete tensors: constant folding before a run, and nodes whose shapes depend on data during one.
//
// Errors: those of infer and prepare; nullopt when the result would be larger than `max_bytes`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/op.h"

namespace nxrt::passes {

struct Evaluator {
  const Kernels& cpu;
  Workers& workers;
  std::string where;
  int64_t max_bytes = INT64_MAX;
  const PagedStep* paged = nullptr;
};

// The type of a concrete tensor, with the elements of a small integer one.
TensorType type_of(const Tensor& tensor);

// A default Tensor (no dtype) is an omitted input. `constant[i]` says that input i never changes.
std::optional<std::vector<Tensor>> evaluate(const Node& node, const ops::OpDef& op, const std::vector<Tensor>& inputs,
                                            const std::vector<bool>& constant, const Evaluator& with);

// Concrete output shapes of a node, from infer or, when they depend on the data, from the op's resolve.
struct ConcreteTypes {
  std::vector<DType> dtypes;  // none: an omitted output
  std::vector<Shape> shapes;
};
ConcreteTypes concrete_outputs(const ops::NodeView& view, const ops::OpDef& op, const ops::Args& args);

}  // namespace nxrt::passes
