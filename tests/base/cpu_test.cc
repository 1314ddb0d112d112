#include "base/cpu.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <thread>

#include "base/env.h"

namespace nxrt {
namespace {

constexpr int64_t kCounterSlack = int64_t{16} << 20;  // the kernel's counters are per thread and summed late

TEST(Cpu, ScalarIsAlwaysThereAndTheBestIsAvailable) {
  EXPECT_TRUE(std::ranges::count(available(), Isa::scalar));
  EXPECT_TRUE(has(best_isa()));
}

TEST(Cpu, AllowedCpusFollowTheAffinity) {
  int allowed = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    allowed = allowed_cpus();
  }).join();
  EXPECT_EQ(allowed, 1);
}

TEST(Cpu, MemoryFiguresAreSane) {
  EXPECT_GT(allowed_memory(), int64_t{64} << 20);
  const int64_t resident = resident_bytes();  // before the peak: it may grow between the two readings
  EXPECT_GE(peak_resident_bytes() + kCounterSlack, resident);
  EXPECT_GT(resident_bytes(), 1 << 20);
}

TEST(Env, EveryVariableHasANameAndAMeaning) {
  for (const EnvVariable& variable : env_variables()) {
    EXPECT_NE(std::string(variable.name), "");
    EXPECT_NE(std::string(variable.meaning), "");
    EXPECT_EQ(std::ranges::count(env_variables(), variable.id, &EnvVariable::id), 1);
  }
}

}  // namespace
}  // namespace nxrt
