#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using BlockQuantizedMatMul = EveryIsa;
TEST_P(BlockQuantizedMatMul, MatchesTheOracle) { replay_golden("BlockQuantizedMatMul", cpu(), 4); }
INSTANTIATE_EVERY_ISA(BlockQuantizedMatMul);

}  // namespace nxrt::test
