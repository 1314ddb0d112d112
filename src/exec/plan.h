// A graph made ready to run: a flat list of prepared steps over numbered slots.
//
// A slot is a value's place at run time. Its bytes live with the caller (input), in the model (constant), in the arena,
// in an output's buffer, in a buffer of its own (shape known only while running), or inside another slot (view).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/input_binder.h"
#include "exec/shape_program.h"
#include "graph/graph.h"
#include "ops/op.h"

namespace nxrt::exec {

class ControlFlow;
struct SessionOptions;

enum class Home : uint8_t { input, constant, arena, output, own, view };

struct SlotPlan {
  ValueId value;
  DType dtype = DType::none;
  Home home = Home::arena;
  int port = -1;                     // of the input or output whose buffer this is
  int root = -1;                     // the slot whose bytes these are; itself unless a view
  bool dynamic = false;              // the shape is known only while running
  CompiledShape shape;               // of one that is not dynamic
  int defined_at = 0, last_use = 0;  // steps
  int in_place_of = -1;              // a slot that dies at `defined_at` and whose bytes may be taken
};

enum class StepKind : uint8_t {
  kernel,    // all shapes follow from the inputs' shapes
  view,      // nothing runs
  dynamic,   // shapes from infer or resolve with the actual inputs, then the prepared kernel
  deferred,  // ranks or types are unknown until then: prepared anew on each run
  control,   // If, Loop, Scan
};

struct Step {
  NodeId node;
  const ops::OpDef* op = nullptr;
  StepKind kind = StepKind::kernel;
  ops::Kernel kernel;
  std::vector<int> in, out;  // slots; -1: omitted
  std::vector<bool> packed;  // per input: the kernel holds it, run gets null
  std::unique_ptr<ControlFlow> control;
};

struct Plan {
  InputBinder binder;
  std::vector<SlotPlan> slots;
  std::vector<Step> steps;
  std::vector<int> inputs, outputs;  // slot of each port
  int64_t packed_bytes = 0;

  Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();
};

struct PlanContext {
  std::string where;
  const Kernels& cpu;
  Workers& workers;
  const SessionOptions& options;
};

// Types must have been inferred. Prepares every kernel.
Plan make_plan(const Graph& graph, const PlanContext& context);

}  // namespace nxrt::exec
