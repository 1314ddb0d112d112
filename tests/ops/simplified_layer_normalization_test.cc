#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using SimplifiedLayerNormalization = EveryIsa;
TEST_P(SimplifiedLayerNormalization, MatchesTheOracle) { replay_golden("SimplifiedLayerNormalization", cpu(), 7); }
INSTANTIATE_EVERY_ISA(SimplifiedLayerNormalization);

}  // namespace nxrt::test
