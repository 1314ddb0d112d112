// A fixture that runs a test once for each instruction set this machine has.
//
//   using MyOp = EveryIsa;
//   TEST_P(MyOp, MatchesTheDefinition) { expect_near(run_op("Relu", {x}, {.cpu = &cpu()}), …); }
//   INSTANTIATE_EVERY_ISA(MyOp);
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/kernels.h"

namespace nxrt::test {

class EveryIsa : public testing::TestWithParam<Isa> {
 protected:
  const Kernels& cpu() const { return kernels_for(GetParam()); }
};

inline auto available_isas() {
  const auto isas = available();
  return testing::ValuesIn(isas.begin(), isas.end());
}

inline std::string isa_name(const testing::TestParamInfo<Isa>& info) { return std::string(name_of(info.param)); }

}  // namespace nxrt::test

// googletest instantiates suites through macros only; each test file needs its own line.
#define INSTANTIATE_EVERY_ISA(suite) \
  INSTANTIATE_TEST_SUITE_P(, suite, nxrt::test::available_isas(), nxrt::test::isa_name)
