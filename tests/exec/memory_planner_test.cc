#include "exec/memory_planner.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace nxrt::exec {
namespace {

// A chain: value i is defined at step i and read at step i + 1; the last one is the graph's output.
std::vector<PlannedValue> chain(int length, int64_t bytes) {
  std::vector<PlannedValue> values;
  for (int i = 0; i < length; ++i) values.push_back({bytes, i, i + 1});
  return values;
}

int root_of(const std::vector<PlannedValue>& values, int i) {
  while (values[static_cast<size_t>(i)].view_of >= 0) i = values[static_cast<size_t>(i)].view_of;
  return i;
}

// Random values in definition order; some are views, some may run in place, some have no known size.
rc::Gen<std::vector<PlannedValue>> random_values() {
  return rc::gen::exec([] {
    std::vector<PlannedValue> values;
    const int count = *rc::gen::inRange(0, 40);
    for (int i = 0; i < count; ++i) {
      PlannedValue value{*rc::gen::inRange<int64_t>(0, 2000), i, i + *rc::gen::inRange(0, 12)};
      const int kind = *rc::gen::inRange(0, 6);
      if (i > 0 && kind == 0) value.view_of = *rc::gen::inRange(0, i);
      if (i > 0 && kind == 1) value.in_place_of = *rc::gen::inRange(0, i);
      if (kind == 2) value.bytes = -1;
      values.push_back(value);
    }
    return values;
  });
}

// The definition of a legal plan, in the most naive way: simulate the steps and mark who writes which bytes when.
void expect_legal(const std::vector<PlannedValue>& values, const MemoryPlan& plan) {
  std::vector<int> last(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    int& at = last[static_cast<size_t>(root_of(values, static_cast<int>(i)))];
    at = std::max({at, values[i].last_use, values[i].defined_at});
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const int root = root_of(values, static_cast<int>(i));
    RC_ASSERT(plan.offsets[i] == plan.offsets[static_cast<size_t>(root)]);
    if (root != static_cast<int>(i)) continue;
    RC_ASSERT((plan.offsets[i] < 0) == (values[i].bytes < 0));
    if (plan.offsets[i] < 0) continue;
    RC_ASSERT(plan.offsets[i] % 64 == 0);
    RC_ASSERT(plan.offsets[i] + values[i].bytes <= plan.arena_bytes);
    for (size_t j = 0; j < i; ++j) {
      if (values[j].view_of >= 0 || plan.offsets[j] < 0 || values[i].bytes == 0 || values[j].bytes == 0) continue;
      const bool apart =
          plan.offsets[i] + values[i].bytes <= plan.offsets[j] || plan.offsets[j] + values[j].bytes <= plan.offsets[i];
      const bool alive_together = values[i].defined_at <= last[j] && values[j].defined_at <= last[i];
      const bool in_place = values[i].in_place_of >= 0 &&
                            root_of(values, values[i].in_place_of) == static_cast<int>(j) &&
                            last[j] == values[i].defined_at;
      RC_ASSERT(apart || !alive_together || in_place);
    }
  }
}

TEST(MemoryPlanner, AChainNeedsTwoRegions) {
  const MemoryPlan plan = plan_memory(chain(10, 64));
  EXPECT_EQ(plan.stats.slots, 2);
  EXPECT_EQ(plan.stats.assignments, 10);
  EXPECT_EQ(plan.stats.naive_bytes, 640);
  EXPECT_EQ(plan.stats.peak_bytes, 128);
  EXPECT_DOUBLE_EQ(plan.stats.savings_ratio, 0.8);
  EXPECT_TRUE(plan.stats.complete);
}

TEST(MemoryPlanner, InPlaceAChainNeedsOneRegion) {
  std::vector<PlannedValue> values = chain(10, 64);
  for (int i = 1; i < 10; ++i) values[static_cast<size_t>(i)].in_place_of = i - 1;
  EXPECT_EQ(plan_memory(values).arena_bytes, 64);
}

TEST(MemoryPlanner, InPlaceIsRefusedWhileTheInputLives) {
  std::vector<PlannedValue> values = {{64, 0, 2}, {64, 1, 2, -1, 0}};
  const MemoryPlan plan = plan_memory(values);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
}

TEST(MemoryPlanner, TwoOutputsOfAStepNeverTakeTheSameInput) {
  const std::vector<PlannedValue> values = {{64, 0, 1}, {64, 1, 2, -1, 0}, {64, 1, 2, -1, 0}};
  const MemoryPlan plan = plan_memory(values);
  EXPECT_NE(plan.offsets[1], plan.offsets[2]);
}

TEST(MemoryPlanner, ViewsBelongToTheirOwnerAndExtendItsLife) {
  // a, view of a, view of that view (read at step 4), b and c defined while only the views are in use.
  const std::vector<PlannedValue> values = {{16, 0, 1}, {16, 1, 2, 0}, {16, 2, 4, 1}, {16, 3, 4}, {16, 4, 5}};
  const MemoryPlan plan = plan_memory(values);
  EXPECT_EQ(plan.stats.view_edges, 2);
  EXPECT_EQ(plan.stats.assignments, 3);
  EXPECT_EQ(plan.stats.naive_bytes, 48);
  EXPECT_EQ(plan.offsets[2], plan.offsets[0]);
  EXPECT_NE(plan.offsets[3], plan.offsets[0]);
}

TEST(MemoryPlanner, AnUnknownSizeMakesThePlanIncomplete) {
  const MemoryPlan plan = plan_memory({{64, 0, 1}, {-1, 1, 2}, {64, 2, 3, 1}});
  EXPECT_FALSE(plan.stats.complete);
  EXPECT_EQ(plan.stats.unknown_sizes, 1);
  EXPECT_EQ(plan.offsets[1], -1);
  EXPECT_EQ(plan.offsets[2], -1);
}

TEST(MemoryPlanner, SmallValuesFillTheGapOfADeadLargeOne) {
  const std::vector<PlannedValue> values = {{1024, 0, 1}, {64, 1, 4}, {256, 2, 4}, {256, 2, 4}};
  EXPECT_EQ(plan_memory(values).arena_bytes, 1024 + 64);
}

TEST(MemoryPlanner, NothingToPlan) { EXPECT_EQ(plan_memory({}).arena_bytes, 0); }

TEST(MemoryPlanner, ValuesAliveTogetherNeverOverlap) {
  EXPECT_TRUE(rc::check([] {
    const auto values = *random_values();
    expect_legal(values, plan_memory(values));
    expect_legal(values, plan_without_sharing(values));
  }));
}

TEST(MemoryPlanner, SharingNeverTakesMoreThanNotSharing) {
  EXPECT_TRUE(rc::check([] {
    const auto values = *random_values();
    RC_ASSERT(plan_memory(values).arena_bytes <= plan_without_sharing(values).arena_bytes);
  }));
}

TEST(MemoryPlanner, TheSamePlanEveryTime) {
  EXPECT_TRUE(rc::check([] {
    const auto values = *random_values();
    RC_ASSERT(plan_memory(values).offsets == plan_memory(values).offsets);
  }));
}

}  // namespace
}  // namespace nxrt::exec
