#include "exec/plan.h"

#include <algorithm>
#include <unordered_map>

#include "exec/control_flow.h"
#include "exec/weights.h"
#include "passes/support/control_flow.h"
#include "passes/support/typing.h"

namespace nxrt::exec {
namespace {

class Builder {
 public:
  Builder(const Graph& graph, const PlanContext& context) : graph_(graph), context_(context) {}

  Plan build() {
    plan_.binder = InputBinder(graph_, context_.where);
    add_sources();
    for (const NodeId id : graph_.order()) add_step(id);
    for (const ValueId output : graph_.outputs()) plan_.outputs.push_back(slot_of_.at(output));
    mark_lives();
    give_outputs_their_buffers();
    choose_in_place();
    return std::move(plan_);
  }

 private:
  SlotPlan& slot(int index) { return plan_.slots[static_cast<size_t>(index)]; }

  int add_slot(ValueId id, Home home) {
    const Value& value = graph_.value(id);
    const int index = static_cast<int>(plan_.slots.size());
    SlotPlan slot{.value = id, .dtype = value.type.dtype, .home = home, .root = index};
    auto shape = value.type.shape ? compile(*value.type.shape, plan_.binder.symbols()) : std::nullopt;
    slot.dynamic = !shape || slot.dtype == DType::none;
    if (shape) slot.shape = *std::move(shape);
    plan_.slots.push_back(std::move(slot));
    slot_of_[id] = index;
    return index;
  }

  void add_sources() {
    for (const ValueId id : graph_.inputs()) {
      plan_.inputs.push_back(add_slot(id, Home::input));
      slot(plan_.inputs.back()).port = static_cast<int>(plan_.inputs.size()) - 1;
    }
    for (const ValueId id : graph_.values()) {
      if (graph_.value(id).constant) add_slot(id, Home::constant);
    }
  }

  void add_step(NodeId id) {
    const Node& node = graph_.node(id);
    Step step{.node = id, .op = ops::find_op(node.domain, node.op, node.opset)};
    for (const ValueId input : node.inputs) step.in.push_back(input == kNoValue ? -1 : slot_of_.at(input));
    step.packed.resize(step.in.size());
    choose_kind(node, step);
    for (const ValueId output : node.outputs) step.out.push_back(output == kNoValue ? -1 : add_output(step, output));
    plan_.steps.push_back(std::move(step));
  }

  void choose_kind(const Node& node, Step& step) {
    if (passes::is_control_flow(node)) {
      step.kind = StepKind::control;
      step.control = ControlFlow::prepare(graph_, node, context_);
      for (const ValueId captured : step.control->captures()) {
        step.in.push_back(slot_of_.at(captured));
        step.packed.push_back(false);
      }
      return;
    }
    if (!passes::can_be_typed(graph_, node)) {
      step.kind = StepKind::deferred;
      return;
    }
    const ops::NodeView view = passes::view_of(graph_, node, context_.where);
    const bool dynamic = reads_dynamic(step) || leaves_shapes_open(view, *step.op);
    step.kind = dynamic ? StepKind::dynamic : step.op->view ? StepKind::view : StepKind::kernel;
    if (step.op->view) return;
    ops::Prepare prepare{context_.cpu, context_.workers};
    step.kernel = step.op->prepare(view, prepare);
    plan_.packed_bytes += step.kernel.packed_bytes;
    for (const int packed : step.kernel.packed_inputs) {
      step.packed[static_cast<size_t>(packed)] = true;
      // At once, so that loading never holds much more than the packed form. Another reader reads the file again.
      if (const auto& constant = graph_.value(node.inputs[static_cast<size_t>(packed)]).constant)
        pages_.drop(*constant);
    }
  }

  bool reads_dynamic(const Step& step) {
    return std::any_of(step.in.begin(), step.in.end(), [&](int input) { return input >= 0 && slot(input).dynamic; });
  }

  // Asks the op again: the graph's types may have been refined by what the file declares, which proves nothing.
  bool leaves_shapes_open(const ops::NodeView& view, const ops::OpDef& op) const {
    const std::vector<TensorType> types = op.infer(view);
    for (int i = 0; i < view.outputs(); ++i) {
      if (!view.has_output(i)) continue;
      const auto at = static_cast<size_t>(i);
      if (at >= types.size() || types[at].dtype == DType::none || !types[at].shape) return true;
      if (!compile(*types[at].shape, plan_.binder.symbols())) return true;
    }
    return false;
  }

  int add_output(const Step& step, ValueId output) {
    const bool known = step.kind == StepKind::kernel || step.kind == StepKind::view;
    const int index = add_slot(output, known ? Home::arena : Home::own);
    slot(index).dynamic = !known;
    if (step.op && step.op->view && step.kind != StepKind::deferred) {
      slot(index).home = Home::view;
      slot(index).root = slot(step.in[0]).root;
    }
    return index;
  }

  void mark_lives() {
    for (int s = 0; s < static_cast<int>(plan_.steps.size()); ++s) {
      for (const int output : plan_.steps[static_cast<size_t>(s)].out) {
        if (output >= 0) slot(output).defined_at = slot(output).last_use = s;
      }
      for (const int input : plan_.steps[static_cast<size_t>(s)].in) {
        if (input >= 0) slot(input).last_use = s;
      }
    }
    for (const int output : plan_.outputs) slot(output).last_use = static_cast<int>(plan_.steps.size());
    for (SlotPlan& view : plan_.slots) {
      SlotPlan& root = slot(view.root);
      root.last_use = std::max(root.last_use, view.last_use);
    }
  }

  // What computes an output writes into its buffer, also through views; a second output of the same bytes is copied.
  void give_outputs_their_buffers() {
    for (size_t port = 0; port < plan_.outputs.size(); ++port) {
      const SlotPlan& output = slot(plan_.outputs[port]);
      SlotPlan& root = slot(output.root);
      if (root.home != Home::arena || output.dynamic) continue;
      root.home = Home::output;
      root.port = static_cast<int>(port);
    }
  }

  void choose_in_place() {
    for (int s = 0; s < static_cast<int>(plan_.steps.size()); ++s) {
      const Step& step = plan_.steps[static_cast<size_t>(s)];
      const int which = step.kernel.in_place;
      if (step.kind != StepKind::kernel || which < 0 || which >= static_cast<int>(step.in.size())) continue;
      if (step.out.empty() || step.out[0] < 0 || step.in[static_cast<size_t>(which)] < 0) continue;
      if (may_take(step, s, which)) slot(step.out[0]).in_place_of = step.in[static_cast<size_t>(which)];
    }
  }

  bool may_take(const Step& step, int at, int which) {
    const SlotPlan& input = slot(step.in[static_cast<size_t>(which)]);
    const SlotPlan& output = slot(step.out[0]);
    if (output.home != Home::arena || slot(input.root).home != Home::arena) return false;
    if (slot(input.root).last_use != at || input.dtype != output.dtype) return false;
    const auto& in = graph_.value(input.value).type.shape;
    const auto& out = graph_.value(output.value).type.shape;
    if (!in || !out || !(*in == *out)) return false;
    // Another input of the same bytes, under another shape perhaps, would be overwritten while it is read.
    for (size_t i = 0; i < step.in.size(); ++i) {
      if (static_cast<int>(i) != which && step.in[i] >= 0 && slot(step.in[i]).root == input.root) return false;
    }
    return true;
  }

  const Graph& graph_;
  const PlanContext& context_;
  const MappedPages pages_;
  Plan plan_;
  std::unordered_map<ValueId, int> slot_of_;
};

}  // namespace

Plan::Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

Plan make_plan(const Graph& graph, const PlanContext& context) { return Builder(graph, context).build(); }

}  // namespace nxrt::exec
