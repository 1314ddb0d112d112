// How large everything is for given symbols, and the arena that holds it.
#include <fmt/format.h>

#include <algorithm>

#include "exec/runner.h"

namespace nxrt::exec {

void Runner::set_shapes(std::span<const int64_t> symbols) {
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    const SlotPlan& slot = plan_.slots[i];
    if (slot.dynamic || slot.home == Home::constant) continue;
    const auto shape = evaluate(slot.shape, symbols);
    if (!shape || bytes_of(slot.dtype, shape->count()) < 0) {
      throw Error(Code::invalid_argument,
                  fmt::format("the inputs give '{}' a negative or too large dim: {}", graph_.value(slot.value).name,
                              graph_.value(slot.value).type.text()),
                  where_);
    }
    places_[i].shape = *shape;
  }
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const Step& step = plan_.steps[s];
    if (step.kind != StepKind::kernel) continue;
    const auto fill = [&](const std::vector<int>& slots, std::vector<ops::Args::Slot>& into) {
      for (size_t i = 0; i < slots.size(); ++i) {
        if (slots[i] >= 0) into[i].shape = place(slots[i]).shape, into[i].dtype = place(slots[i]).dtype;
      }
    };
    fill(step.in, frames_[s].in);
    fill(step.out, frames_[s].out);
  }
}

Sizes Runner::sizes() {
  Sizes sizes{std::vector<int64_t>(plan_.slots.size()), std::vector<int64_t>(plan_.steps.size())};
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    if (plan_.slots[i].home == Home::arena) sizes.slots[i] = bytes_of(places_[i].dtype, places_[i].shape.count());
  }
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const Step& step = plan_.steps[s];
    if (step.kind != StepKind::kernel || !step.kernel.workspace) continue;
    sizes.workspaces[s] = step.kernel.workspace(frames_[s].args, workers_.width());
  }
  return sizes;
}

// False when a symbol has no bound.
bool Runner::with_bounds(std::vector<int64_t>& symbols) const {
  bool all = true;
  for (int i = 0; i < plan_.binder.symbols().size(); ++i) {
    const auto bound = bounds_.find(plan_.binder.symbols().name(i));
    int64_t& value = symbols[static_cast<size_t>(i)];
    if (bound == bounds_.end()) {
      all = false;
    } else {
      value = std::max(value, bound->second);
    }
  }
  return all;
}

void Runner::plan_for_bounds() {
  std::vector<int64_t> symbols(symbols_.size());
  if (!with_bounds(symbols)) return;
  set_shapes(symbols);
  arena_.fit(plan_, sizes(), share_);
}

// A symbol that has grown will grow again (a cache gets a token per step): room for that saves planning on every run.
std::vector<int64_t> Runner::with_headroom(std::span<const int64_t> symbols) const {
  std::vector<int64_t> roomy(symbols.begin(), symbols.end());
  for (size_t i = 0; i < roomy.size(); ++i) {
    if (arena_.bytes() > 0 && symbols_[i] > 0 && roomy[i] > symbols_[i])
      roomy[i] += std::min<int64_t>(roomy[i] / 4 + 16, 4096);
  }
  with_bounds(roomy);
  return roomy;
}

void Runner::resize(std::span<const int64_t> symbols) {
  sized_ = false;
  check_.check(symbols);
  set_shapes(symbols);
  Sizes needed = sizes();
  if (!arena_.holds(needed)) {
    set_shapes(with_headroom(symbols));
    Sizes roomy = sizes();
    // Not every size grows with its symbols (S − 1, or a workspace); what this run needs counts in any case.
    for (size_t i = 0; i < needed.slots.size(); ++i) roomy.slots[i] = std::max(roomy.slots[i], needed.slots[i]);
    for (size_t i = 0; i < needed.workspaces.size(); ++i) {
      roomy.workspaces[i] = std::max(roomy.workspaces[i], needed.workspaces[i]);
    }
    arena_.fit(plan_, roomy, share_);
    set_shapes(symbols);
  }
  place_in_arena();
  std::copy(symbols.begin(), symbols.end(), symbols_.begin());
  sized_ = true;
}

void Runner::place_in_arena() {
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    if (plan_.slots[i].home == Home::arena) places_[i].data = arena_.slot(static_cast<int>(i));
  }
}

}  // namespace nxrt::exec
