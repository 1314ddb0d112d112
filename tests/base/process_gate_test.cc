#include "base/process_gate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/gate_for_test.h"

namespace nxrt {
namespace {

struct NamedGate {
  const char* name;
  const char* variable;
  ProcessGate& (*gate)();
};

class EveryGate : public testing::TestWithParam<NamedGate> {
 protected:
  ProcessGate& gate() { return GetParam().gate(); }
};

// The interleaving, played by hand on the real gate through the real publish function: an initialiser has read the
// environment, somebody enables the gate, then the initialiser publishes its stale answer.
TEST_P(EveryGate, ALateInitialiserNeverRevertsAnEnable) {
  for (const bool stale_answer : {false, true}) {
    SCOPED_TRACE(stale_answer);
    GateForTest owned(gate());
    EXPECT_TRUE(gate().publish_from_environment(stale_answer)) << "the initialiser must answer with the state in force";
    EXPECT_TRUE(gate().on()) << "the enable was lost";
  }
}

TEST_P(EveryGate, AnEnableAfterTheInitialiserWinsToo) {
  GateForTest owned(gate());
  gate().disable();  // as an initialiser leaves it
  EXPECT_FALSE(gate().on());
  gate().enable();
  EXPECT_TRUE(gate().on());
}

TEST_P(EveryGate, TheGuardClearsOnExceptions) {
  EXPECT_THROW(
      {
        GateForTest owned(gate());
        throw std::runtime_error("a failing test");
      },
      std::runtime_error);
  EXPECT_EQ(GateForTest::state(gate()), ProcessGate::unknown);
}

TEST_P(EveryGate, SettlesFromItsVariableOnce) {
  {
    GateForTest cleared(gate());
  }
  ASSERT_EQ(setenv(GetParam().variable, "TRUE", 1), 0);
  EXPECT_TRUE(gate().on());
  ASSERT_EQ(unsetenv(GetParam().variable), 0);
  EXPECT_TRUE(gate().on()) << "a settled gate is not derived again";
  {
    GateForTest cleared(gate());
  }
  ASSERT_EQ(setenv(GetParam().variable, "yes", 1), 0);
  EXPECT_FALSE(gate().on());
  ASSERT_EQ(unsetenv(GetParam().variable), 0);
  {
    GateForTest cleared(gate());
  }
}

INSTANTIATE_TEST_SUITE_P(Process, EveryGate,
                         testing::Values(NamedGate{"profile", "NXRT_EXEC_PHASE_PROFILE", &gates::phase_profile},
                                         NamedGate{"plan", "NXRT_ACTIVATION_MEMORY_PLAN",
                                                   &gates::activation_memory_plan},
                                         NamedGate{"ledger", "NXRT_CPU_DISPATCH_LEDGER", &gates::dispatch_ledger}),
                         [](const auto& test) { return std::string(test.param.name); });

// Without this arm a publish that never stores, or one that exchanges from the wrong state, would pass the tests above.
TEST(ProcessGate, AnUnownedGateIsInitialisedAndTheValueLands) {
  for (const bool answer : {false, true}) {
    SCOPED_TRACE(answer);
    ProcessGate scratch(EnvName::none);
    EXPECT_EQ(scratch.publish_from_environment(answer), answer);
    EXPECT_EQ(GateForTest::state(scratch), answer ? ProcessGate::on_state : ProcessGate::off);
    EXPECT_EQ(scratch.on(), answer);
  }
}

TEST(ProcessGate, ProfilingDoesNotSwitchThePlannerOn) {
  {
    GateForTest cleared(gates::activation_memory_plan());
  }
  GateForTest profile(gates::phase_profile());
  EXPECT_FALSE(gates::activation_memory_plan().on());
}

TEST(ProcessGate, ManyReadersAgreeWhileOneEnables) {
  ProcessGate scratch(EnvName::none);
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) scratch.on();
    });
  }
  scratch.enable();
  for (std::thread& reader : readers) reader.join();
  EXPECT_TRUE(scratch.on());
}

}  // namespace
}  // namespace nxrt
