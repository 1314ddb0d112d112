#include "exec/runner.h"

#include <fmt/format.h>

#include <cstring>

namespace nxrt::exec {
namespace {

int64_t bytes_at(DType dtype, const Shape& shape) { return bytes_of(dtype, shape.count()); }

// Measures a stretch of work when somebody listens.
class Stopwatch {
 public:
  explicit Stopwatch(Profile* profile) : profile_(profile), begin_(profile ? Profile::now_ns() : 0) {}
  void phase(std::string_view name) {
    if (!profile_) return;
    const int64_t now = Profile::now_ns();
    profile_->phase(name, begin_, now);
    begin_ = now;
  }
  void op(const Node& node) {
    if (!profile_) return;
    const int64_t now = Profile::now_ns();
    profile_->op(node.op, node.name, begin_, now);
    begin_ = now;
  }

 private:
  Profile* profile_;
  int64_t begin_;
};

}  // namespace

Runner::Runner(const Graph& graph, Plan plan, const PlanContext& context)
    : graph_(graph),
      plan_(std::move(plan)),
      where_(context.where),
      cpu_(context.cpu),
      workers_(context.workers),
      share_(context.options.share_buffers),
      bounds_(context.options.symbol_bounds),
      check_(graph, plan_, context.where),
      frames_(plan_.steps.size()),
      places_(plan_.slots.size()),
      symbols_(static_cast<size_t>(plan_.binder.symbols().size())),
      next_symbols_(symbols_.size()),
      results_(plan_.outputs.size()) {
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    const SlotPlan& slot = plan_.slots[i];
    places_[i].dtype = slot.dtype;
    if (slot.home != Home::constant) continue;
    const Tensor& constant = *graph.value(slot.value).constant;
    places_[i].data = const_cast<void*>(constant.raw());
    places_[i].shape = constant.shape();
  }
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    Frame& frame = frames_[s];
    frame.in.resize(plan_.steps[s].in.size());
    frame.out.resize(plan_.steps[s].out.size());
    frame.args.in_slots = frame.in;
    frame.args.out_slots = frame.out;
    frame.args.node_index = static_cast<int>(s);
  }
  plan_for_bounds();
}

void Runner::run(const Bound& bound, Profile* profile) {
  Stopwatch watch(profile);
  plan_.binder.bind(bound.inputs, next_symbols_);
  watch.phase("bind_inputs");
  if (!sized_ || next_symbols_ != symbols_) {
    resize(next_symbols_);
    watch.phase("resolve_shapes");
  }
  paged_ = bound.paged;
  place_inputs(bound);
  place_outputs(bound);
  watch.phase("place_buffers");
  run_steps(profile);
  watch.phase("run_steps");
  collect(bound);
  watch.phase("collect_outputs");
}

void Runner::place_inputs(const Bound& bound) {
  for (size_t port = 0; port < plan_.inputs.size(); ++port) {
    Place& at = place(plan_.inputs[port]);
    at.data = const_cast<void*>(bound.inputs[port].raw());
    at.shape = bound.inputs[port].shape();
    at.dtype = bound.inputs[port].dtype();
  }
}

void Runner::expect_bound(int port, const Tensor& bound, const Place& at) const {
  if (bound.dtype() == at.dtype && bound.count() == at.shape.count() && (bound.raw() || bound.count() == 0)) return;
  throw Error(
      Code::invalid_argument,
      fmt::format("output '{}' is bound to {}{}, expected {}{}",
                  graph_.value(plan_.slots[static_cast<size_t>(plan_.outputs[static_cast<size_t>(port)])].value).name,
                  name_of(bound.dtype()), bound.shape().text(), name_of(at.dtype), at.shape.text()),
      where_);
}

// The bound buffer, or one of ours that grows.
void* Runner::output_memory(int port, const Bound& bound, Place& at, int64_t bytes) {
  const auto index = static_cast<size_t>(port);
  if (index < bound.outputs.size() && bound.outputs[index]) {
    expect_bound(port, bound.outputs[index], at);
    results_[index] = bound.outputs[index].reshaped(at.shape);
  } else {
    if (!at.buffer || at.buffer.bytes() < bytes) at.buffer = Tensor::uninitialized(DType::u8, {bytes});
    results_[index] = Tensor::borrow(at.dtype, at.shape, at.buffer.raw(), at.buffer.owner());
  }
  return results_[index].raw_mutable();
}

void Runner::place_outputs(const Bound& bound) {
  for (size_t port = 0; port < plan_.outputs.size(); ++port) {
    const int slot = plan_.outputs[port];
    const SlotPlan& plan = plan_.slots[static_cast<size_t>(slot)];
    const SlotPlan& root = plan_.slots[static_cast<size_t>(plan.root)];
    if (root.home != Home::output || root.port != static_cast<int>(port)) continue;
    Place& at = place(slot);
    place(plan.root).data = output_memory(static_cast<int>(port), bound, at, bytes_at(at.dtype, at.shape));
  }
}

void Runner::run_steps(Profile* profile) {
  Stopwatch watch(profile);
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    run_step(s);
    watch.op(graph_.node(plan_.steps[s].node));
  }
}

void Runner::run_step(size_t index) {
  const Step& step = plan_.steps[index];
  Frame& frame = frames_[index];
  switch (step.kind) {
    case StepKind::kernel: return run_kernel(step, frame, index);
    case StepKind::view: place(step.out[0]).data = place(step.in[0]).data; return;
    case StepKind::dynamic: return run_dynamic(step, frame);
    case StepKind::deferred: return run_deferred(step);
    case StepKind::control: return run_control(step);
  }
}

void Runner::run_kernel(const Step& step, Frame& frame, size_t index) {
  for (size_t i = 0; i < step.in.size(); ++i) {
    if (step.in[i] >= 0) frame.in[i].data = step.packed[i] ? nullptr : place(step.in[i]).data;
  }
  for (size_t i = 0; i < step.out.size(); ++i) {
    if (step.out[i] >= 0) frame.out[i].data = place(step.out[i]).data;
  }
  frame.args.workspace_bytes = step.kernel.workspace ? arena_.workspace(static_cast<int>(index)) : nullptr;
  frame.args.paged = paged_;
  step.kernel.run(frame.args, workers_);
}

// Outputs that no step wrote into their buffer: inputs, constants, views of other outputs, and slots with their own
// bytes.
void Runner::collect(const Bound& bound) {
  for (size_t port = 0; port < plan_.outputs.size(); ++port) {
    const int slot = plan_.outputs[port];
    const SlotPlan& plan = plan_.slots[static_cast<size_t>(slot)];
    const SlotPlan& root = plan_.slots[static_cast<size_t>(plan.root)];
    if (root.home == Home::output && root.port == static_cast<int>(port)) continue;
    const Place& from = place(slot);
    const int64_t bytes = bytes_at(from.dtype, from.shape);
    const bool is_bound = port < bound.outputs.size() && bound.outputs[port];
    if (is_bound) {
      expect_bound(static_cast<int>(port), bound.outputs[port], from);
      results_[port] = bound.outputs[port].reshaped(from.shape);
    } else {
      // A result must not change when the caller writes to the input it came from.
      results_[port] = Tensor::uninitialized(from.dtype, from.shape);
    }
    if (bytes > 0) std::memcpy(results_[port].raw_mutable(), from.data, static_cast<size_t>(bytes));
  }
}

ActivationPlanStats Runner::memory_stats() const {
  ActivationPlanStats stats = arena_.stats();
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    if (plan_.slots[i].home != Home::output) continue;
    const int64_t bytes = bytes_at(places_[i].dtype, places_[i].shape);
    stats.naive_bytes += bytes;
    stats.peak_bytes += bytes;
    ++stats.slots;
    ++stats.assignments;
  }
  if (stats.naive_bytes > 0) {
    stats.savings_ratio = 1.0 - static_cast<double>(stats.peak_bytes) / static_cast<double>(stats.naive_bytes);
  }
  return stats;
}

}  // namespace nxrt::exec
