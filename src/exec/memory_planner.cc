#include "exec/memory_planner.h"

#include <algorithm>
#include <set>

namespace nxrt::exec {
namespace {

constexpr int64_t kAlignment = 64;
int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Values that share bytes by construction (views, in-place results) are placed once, as one region.
struct Region {
  int64_t bytes = 0;
  int from = 0, to = 0;  // steps, both inclusive
  int64_t offset = 0;
  bool overlaps(const Region& other) const { return from <= other.to && other.from <= to; }
};

std::vector<int> owners_of_views(const std::vector<PlannedValue>& values) {
  std::vector<int> owner(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    int root = static_cast<int>(i);
    while (values[static_cast<size_t>(root)].view_of >= 0) root = values[static_cast<size_t>(root)].view_of;
    owner[i] = root;
  }
  return owner;
}

// An owner lives as long as the last of its views.
std::vector<int> last_uses(const std::vector<PlannedValue>& values, const std::vector<int>& owner) {
  std::vector<int> last(values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    int& owners = last[static_cast<size_t>(owner[i])];
    owners = std::max({owners, values[i].last_use, values[i].defined_at});
  }
  return last;
}

struct Regions {
  std::vector<Region> list;
  std::vector<int> of;  // per value: its region, -1 when the size is unknown
};

Regions make_regions(const std::vector<PlannedValue>& values, bool share) {
  const std::vector<int> owner = owners_of_views(values);
  const std::vector<int> last = last_uses(values, owner);
  std::vector<size_t> by_definition;
  for (size_t i = 0; i < values.size(); ++i) {
    if (owner[i] == static_cast<int>(i) && values[i].bytes >= 0) by_definition.push_back(i);
  }
  std::stable_sort(by_definition.begin(), by_definition.end(),
                   [&](size_t a, size_t b) { return values[a].defined_at < values[b].defined_at; });

  Regions regions{{}, std::vector<int>(values.size(), -1)};
  for (const size_t i : by_definition) {
    const PlannedValue& value = values[i];
    if (share && value.in_place_of >= 0) {
      const auto donor = static_cast<size_t>(owner[static_cast<size_t>(value.in_place_of)]);
      const int region = regions.of[donor];
      // The donor dies here, is large enough, and has not already given its bytes to a sibling output.
      if (region >= 0 && last[donor] == value.defined_at &&
          regions.list[static_cast<size_t>(region)].bytes >= value.bytes &&
          regions.list[static_cast<size_t>(region)].to == value.defined_at) {
        regions.list[static_cast<size_t>(region)].to = std::max(last[i], value.defined_at + 1);
        regions.of[i] = region;
        continue;
      }
    }
    regions.of[i] = static_cast<int>(regions.list.size());
    regions.list.push_back({aligned(value.bytes), value.defined_at, last[i]});
  }
  for (size_t i = 0; i < values.size(); ++i) regions.of[i] = regions.of[static_cast<size_t>(owner[i])];
  return regions;
}

// The lowest offset of the smallest gap that holds `region` between the regions alive with it; `placed` is in offset
// order.
int64_t best_gap(const Region& region, const std::vector<const Region*>& placed) {
  int64_t end = 0, best = -1, best_size = 0;
  for (const Region* other : placed) {
    if (!region.overlaps(*other)) continue;
    const int64_t gap = other->offset - end;
    if (gap >= region.bytes && (best < 0 || gap < best_size)) best = end, best_size = gap;
    end = std::max(end, other->offset + other->bytes);
  }
  return best >= 0 ? best : end;
}

// Largest first: small ones then fill the gaps that large ones leave.
int64_t place(std::vector<Region>& regions) {
  std::vector<Region*> by_size;
  for (Region& region : regions) by_size.push_back(&region);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const Region* a, const Region* b) { return a->bytes > b->bytes; });
  std::vector<const Region*> placed;
  int64_t arena = 0;
  for (Region* region : by_size) {
    if (region->bytes == 0) continue;
    region->offset = best_gap(*region, placed);
    arena = std::max(arena, region->offset + region->bytes);
    const auto at = std::upper_bound(placed.begin(), placed.end(), region,
                                     [](const Region* a, const Region* b) { return a->offset < b->offset; });
    placed.insert(at, region);
  }
  return arena;
}

int64_t place_side_by_side(std::vector<Region>& regions) {
  int64_t arena = 0;
  for (Region& region : regions) {
    region.offset = arena;
    arena += region.bytes;
  }
  return arena;
}

ActivationPlanStats statistics(const std::vector<PlannedValue>& values, const Regions& regions, int64_t arena) {
  ActivationPlanStats stats;
  std::set<int64_t> offsets;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].view_of >= 0) {
      ++stats.view_edges;
    } else if (regions.of[i] < 0) {
      ++stats.unknown_sizes;
    } else {
      ++stats.assignments;
      stats.naive_bytes += values[i].bytes;
      if (values[i].bytes > 0) offsets.insert(regions.list[static_cast<size_t>(regions.of[i])].offset);
    }
  }
  stats.complete = stats.unknown_sizes == 0;
  stats.peak_bytes = arena;
  stats.slots = static_cast<int>(offsets.size());
  if (stats.naive_bytes > 0) {
    stats.savings_ratio = 1.0 - static_cast<double>(arena) / static_cast<double>(stats.naive_bytes);
  }
  return stats;
}

MemoryPlan plan(const std::vector<PlannedValue>& values, bool share) {
  Regions regions = make_regions(values, share);
  MemoryPlan plan;
  plan.arena_bytes = share ? place(regions.list) : place_side_by_side(regions.list);
  for (const int region : regions.of) {
    plan.offsets.push_back(region < 0 ? -1 : regions.list[static_cast<size_t>(region)].offset);
  }
  plan.stats = statistics(values, regions, plan.arena_bytes);
  return plan;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<PlannedValue>& values) { return plan(values, true); }
MemoryPlan plan_without_sharing(const std::vector<PlannedValue>& values) { return plan(values, false); }

}  // namespace nxrt::exec
