#include "exec/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nxrt::exec {
namespace {

using ::testing::HasSubstr;

TEST(Profile, SumsCallsAndSortsByTime) {
  Profile profile;
  profile.start(false);
  profile.op("Add", "a", 0, 1'000'000);
  profile.op("MatMul", "m", 0, 5'000'000);
  profile.op("Add", "b", 10, 2'000'010);
  profile.phase("bind_inputs", 0, 500'000);
  const auto rows = profile.rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "op MatMul");
  EXPECT_EQ(rows[1].name, "op Add");
  EXPECT_EQ(rows[1].calls, 2);
  EXPECT_DOUBLE_EQ(rows[1].total_ms, 3.0);
  EXPECT_EQ(rows[2].name, "phase bind_inputs");
  EXPECT_THAT(profile.table(), HasSubstr("op MatMul"));
}

TEST(Profile, WhatWasNotMeasuredIsAbsent) {
  Profile profile;
  EXPECT_TRUE(profile.rows().empty());
  EXPECT_THAT(profile.trace_json(), ::testing::Not(HasSubstr("\"ph\"")));
}

TEST(Profile, TraceEscapesNamesAndKeepsDurations) {
  Profile profile;
  profile.start(true);
  profile.op("Add", "/layers \"0\"\n\\", 2'000, 5'500);
  const std::string trace = profile.trace_json();
  EXPECT_THAT(trace, HasSubstr(R"("node":"/layers \"0\"\u000a\\")"));
  EXPECT_THAT(trace, HasSubstr(R"("ts":2.000,"dur":3.500)"));
}

TEST(Profile, EventsAreBoundedAndDropsAreCounted) {
  Profile profile;
  profile.start(true);
  for (size_t i = 0; i < Profile::kMaxEvents + 3; ++i) profile.phase("p", 0, 1);
  EXPECT_EQ(profile.dropped_events(), 3);
  EXPECT_THAT(profile.trace_json().substr(profile.trace_json().size() - 60), HasSubstr("\"dropped_events\":3"));
  profile.reset();
  EXPECT_EQ(profile.dropped_events(), 0);
  EXPECT_TRUE(profile.rows().empty());
}

}  // namespace
}  // namespace nxrt::exec
