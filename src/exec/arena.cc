#include "exec/arena.h"

namespace nxrt::exec {
namespace {

bool all_within(const std::vector<int64_t>& sizes, const std::vector<int64_t>& planned) {
  if (sizes.size() != planned.size()) return false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > planned[i]) return false;
  }
  return true;
}

// The slots that the planner places: those of the arena, their views, and (as unknown sizes) those with buffers of
// their own.
struct PlannerInput {
  std::vector<PlannedValue> values;
  std::vector<int> of_slot, of_step;  // index in `values`, -1: none
};

PlannerInput planner_input(const Plan& plan, const Sizes& sizes) {
  PlannerInput input;
  input.of_slot.resize(plan.slots.size(), -1);
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const SlotPlan& slot = plan.slots[i];
    const Home home = plan.slots[static_cast<size_t>(slot.root)].home;
    if (home != Home::arena && home != Home::own) continue;
    PlannedValue value{
        .bytes = home == Home::own ? -1 : sizes.slots[i], .defined_at = slot.defined_at, .last_use = slot.last_use};
    if (slot.home == Home::view) value.view_of = input.of_slot[static_cast<size_t>(slot.root)];
    if (slot.in_place_of >= 0) value.in_place_of = input.of_slot[static_cast<size_t>(slot.in_place_of)];
    input.of_slot[i] = static_cast<int>(input.values.size());
    input.values.push_back(value);
  }
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    input.of_step.push_back(sizes.workspaces[s] > 0 ? static_cast<int>(input.values.size()) : -1);
    const int step = static_cast<int>(s);
    if (sizes.workspaces[s] > 0) input.values.push_back({sizes.workspaces[s], step, step});
  }
  return input;
}

std::vector<int64_t> offsets_of(const std::vector<int>& indices, const MemoryPlan& memory) {
  std::vector<int64_t> offsets;
  for (const int index : indices)
    offsets.push_back(index < 0 ? 0 : std::max<int64_t>(0, memory.offsets[static_cast<size_t>(index)]));
  return offsets;
}

}  // namespace

bool Arena::holds(const Sizes& sizes) const {
  return all_within(sizes.slots, planned_.slots) && all_within(sizes.workspaces, planned_.workspaces);
}

void Arena::fit(const Plan& plan, const Sizes& sizes, bool share) {
  const PlannerInput input = planner_input(plan, sizes);
  const MemoryPlan memory = share ? plan_memory(input.values) : plan_without_sharing(input.values);
  planned_ = {};  // if the allocation fails, nothing fits
  if (memory.arena_bytes > bytes()) memory_ = Tensor();
  if (!memory_) memory_ = Tensor::uninitialized(DType::u8, {memory.arena_bytes});
  offsets_ = offsets_of(input.of_slot, memory);
  workspace_offsets_ = offsets_of(input.of_step, memory);
  stats_ = memory.stats;
  planned_ = sizes;
}

}  // namespace nxrt::exec
