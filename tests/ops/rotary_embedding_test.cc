#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using RotaryEmbedding = EveryIsa;
TEST_P(RotaryEmbedding, MatchesTheOracle) { replay_golden("RotaryEmbedding", cpu(), 16); }
INSTANTIATE_EVERY_ISA(RotaryEmbedding);

}  // namespace nxrt::test
