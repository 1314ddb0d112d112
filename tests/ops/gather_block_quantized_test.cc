#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using GatherBlockQuantized = EveryIsa;
TEST_P(GatherBlockQuantized, MatchesTheOracle) { replay_golden("GatherBlockQuantized", cpu(), 16); }
INSTANTIATE_EVERY_ISA(GatherBlockQuantized);

}  // namespace nxrt::test
