#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using FusedMatMul = EveryIsa;
TEST_P(FusedMatMul, MatchesTheOracle) { replay_golden("FusedMatMul", cpu(), 5); }
INSTANTIATE_EVERY_ISA(FusedMatMul);

}  // namespace nxrt::test
