#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using MultiHeadAttention = EveryIsa;
TEST_P(MultiHeadAttention, MatchesTheOracle) { replay_golden("MultiHeadAttention", cpu(), 15); }
INSTANTIATE_EVERY_ISA(MultiHeadAttention);

}  // namespace nxrt::test
