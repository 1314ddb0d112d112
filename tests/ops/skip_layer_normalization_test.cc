#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using SkipLayerNormalization = EveryIsa;
TEST_P(SkipLayerNormalization, MatchesTheOracle) { replay_golden("SkipLayerNormalization", cpu(), 14); }
INSTANTIATE_EVERY_ISA(SkipLayerNormalization);

}  // namespace nxrt::test
