#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using FusedActivations = EveryIsa;
TEST_P(FusedActivations, MatchesTheOracle) { replay_golden("Activations", cpu(), 10); }
INSTANTIATE_EVERY_ISA(FusedActivations);

}  // namespace nxrt::test
