// Runs a plan: binds the inputs, sizes what their shapes ask for, and walks the steps.
//
// Threads: one run at a time. Errors: Error{invalid_argument} before the first step when the inputs don't fit;
// afterwards only from nodes whose shapes depend on data. Memory: a run whose shapes were seen before allocates
// nothing.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "exec/arena.h"
#include "exec/plan.h"
#include "exec/profile.h"
#include "exec/session.h"
#include "exec/shape_check.h"

namespace nxrt::exec {

class Runner {
 public:
  Runner(const Graph& graph, Plan plan, const PlanContext& context);

  struct Bound {
    std::span<const Tensor> inputs, outputs;  // by port; outputs may be fewer
    const PagedStep* paged = nullptr;
  };
  void run(const Bound& bound, Profile* profile);  // profile: null when off
  const Tensor& result(int port) const { return results_[static_cast<size_t>(port)]; }

  const Plan& plan() const { return plan_; }
  int64_t arena_bytes() const { return arena_.bytes(); }
  ActivationPlanStats memory_stats() const;

 private:
  // A step's arguments, kept between runs.
  struct Frame {
    std::vector<ops::Args::Slot> in, out;
    ops::Args args;
  };
  // A value's place in this run.
  struct Place {
    void* data = nullptr;
    Shape shape;
    DType dtype = DType::none;
    Tensor buffer;  // of a slot with bytes of its own, and of an unbound output
  };

  // Sizes (runner_sizes.cc).
  void plan_for_bounds();
  void resize(std::span<const int64_t> symbols);
  void set_shapes(std::span<const int64_t> symbols);
  Sizes sizes();
  bool with_bounds(std::vector<int64_t>& symbols) const;
  std::vector<int64_t> with_headroom(std::span<const int64_t> symbols) const;
  void place_in_arena();

  // Running (runner.cc).
  void place_inputs(const Bound& bound);
  void place_outputs(const Bound& bound);
  void expect_bound(int port, const Tensor& bound, const Place& place) const;
  void* output_memory(int port, const Bound& bound, Place& place, int64_t bytes);
  void run_steps(Profile* profile);
  void run_step(size_t index);
  void run_kernel(const Step& step, Frame& frame, size_t index);
  void collect(const Bound& bound);

  // Nodes whose shapes depend on data (runner_dynamic.cc).
  void run_dynamic(const Step& step, Frame& frame);
  void run_deferred(const Step& step);
  void run_control(const Step& step);
  Tensor tensor_at(int slot) const;
  void expect_declared(const Step& step, int slot, DType dtype, const Shape& shape) const;
  void own(const Step& step, int slot, Tensor tensor);
  void* own_bytes(int slot, DType dtype, const Shape& shape);

  Place& place(int slot) { return places_[static_cast<size_t>(slot)]; }
  const Place& place(int slot) const { return places_[static_cast<size_t>(slot)]; }

  const Graph& graph_;
  Plan plan_;
  std::string where_;
  const Kernels& cpu_;
  Workers& workers_;
  bool share_;
  std::map<std::string, int64_t> bounds_;

  ShapeCheck check_;
  Arena arena_;
  std::vector<Frame> frames_;
  std::vector<Place> places_;
  std::vector<int64_t> symbols_, next_symbols_;
  bool sized_ = false;  // places and arena belong to symbols_
  std::vector<Tensor> results_;
  Tensor scratch_;  // workspace of steps whose shapes depend on data
  const PagedStep* paged_ = nullptr;
};

}  // namespace nxrt::exec
