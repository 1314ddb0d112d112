// The one buffer that activations and workspaces share, and where each lies in it.
//
// Errors: Error{out_of_capacity} when the system has no memory for it.
// Memory: only fit() allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "exec/memory_planner.h"
#include "exec/plan.h"

namespace nxrt::exec {

// Bytes that a run needs: per slot (those of the arena; others are ignored) and per step (workspace).
struct Sizes {
  std::vector<int64_t> slots, workspaces;
};

class Arena {
 public:
  bool holds(const Sizes& sizes) const;  // the present plan is large enough for each of them
  void fit(const Plan& plan, const Sizes& sizes, bool share);

  std::byte* slot(int index) const { return base() + offsets_[static_cast<size_t>(index)]; }
  std::byte* workspace(int step) const { return base() + workspace_offsets_[static_cast<size_t>(step)]; }
  int64_t bytes() const { return memory_ ? memory_.bytes() : 0; }
  const ActivationPlanStats& stats() const { return stats_; }

 private:
  std::byte* base() const { return const_cast<std::byte*>(static_cast<const std::byte*>(memory_.raw())); }

  Tensor memory_;
  Sizes planned_;
  std::vector<int64_t> offsets_, workspace_offsets_;
  ActivationPlanStats stats_;
};

}  // namespace nxrt::exec
