// If, Loop and Scan at run time: each body is a session of its own.
//
// Threads: as the session that owns it. Errors: prepare throws Error; run those of the bodies.
// Limits:  Scan over axis 0, forward, only.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "graph/graph.h"

namespace nxrt::exec {

struct PlanContext;

class ControlFlow {
 public:
  static std::unique_ptr<ControlFlow> prepare(const Graph& graph, const Node& node, const PlanContext& context);
  virtual ~ControlFlow() = default;

  // Values of the surroundings that the bodies read.
  const std::vector<ValueId>& captures() const { return captures_; }
  // `inputs`: the node's own, then the captures. An omitted input is a Tensor without a type.
  virtual std::vector<Tensor> run(std::span<const Tensor> inputs) = 0;

 protected:
  std::vector<ValueId> captures_;
};

}  // namespace nxrt::exec
