#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using GroupQueryAttention = EveryIsa;
TEST_P(GroupQueryAttention, MatchesTheOracle) { replay_golden("GroupQueryAttention", cpu(), 35); }
INSTANTIATE_EVERY_ISA(GroupQueryAttention);

}  // namespace nxrt::test
