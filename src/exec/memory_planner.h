// Activation memory planner: offsets of every activation in one arena, by liveness. The arena it plans is the arena
// that runs.
//
// Liveness is [definition, last use]; views belong to their owner and extend its life; an output may take the bytes of
// an input that dies at the same step when the kernel allows it (in place), and otherwise never overlaps a same-step
// input. Graph outputs live to the end. Best fit, 64-byte aligned. Threads: a pure function. Errors: none; a value of
// unknown size makes the plan incomplete and gets a buffer of its own.
#pragma once

#include <cstdint>
#include <vector>

namespace nxrt::exec {

struct PlannedValue {
  int64_t bytes = 0;     // < 0: unknown size
  int defined_at = 0;    // step
  int last_use = 0;      // step; outputs of the graph: number of steps
  int view_of = -1;      // index of the owner, -1: owns its bytes
  int in_place_of = -1;  // candidate: an input that dies at `defined_at`
};

struct ActivationPlanStats {
  bool complete = false;     // every size was known and a run has used it
  int64_t peak_bytes = 0;    // the arena
  int64_t naive_bytes = 0;   // one buffer per value
  double savings_ratio = 0;  // 1 − peak / naive
  int slots = 0;             // distinct arena regions in use
  int assignments = 0;       // values given a place
  int view_edges = 0;
  int unknown_sizes = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // per value; -1: unknown size; views have their owner's
  int64_t arena_bytes = 0;
  ActivationPlanStats stats;
};

MemoryPlan plan_memory(const std::vector<PlannedValue>& values);
// The debug arrangement: a region of its own for every value. Results must be bit-identical to plan_memory's.
MemoryPlan plan_without_sharing(const std::vector<PlannedValue>& values);

}  // namespace nxrt::exec
