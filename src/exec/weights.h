// The constants of a graph as memory: aligned before kernels are prepared, let go once packed.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/plan.h"
#include "graph/graph.h"

namespace nxrt::exec {

// The read-only mappings of files at its construction: the only memory whose pages can be dropped and read again.
class MappedPages {
 public:
  MappedPages();
  bool drop(const Tensor& tensor) const;  // false: the bytes lie elsewhere, nothing happened

 private:
  struct Range {
    uintptr_t begin, end;
  };
  std::vector<Range> ranges_;
};

// Kernels read elements through typed pointers; a file may hold them at any offset. Those are copied.
void align_constants(Graph& graph);

// Constants that every reader holds packed: pages of a mapped file are dropped (they stay readable), heap copies are
// freed (their tensors keep type and shape, without bytes). Answers the bytes of the constants that runs still read.
int64_t release_packed(Graph& graph, const Plan& plan);

}  // namespace nxrt::exec
