#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using MatMulNBits = EveryIsa;
TEST_P(MatMulNBits, MatchesTheOracle) { replay_golden("MatMulNBits", cpu(), 40); }
INSTANTIATE_EVERY_ISA(MatMulNBits);

}  // namespace nxrt::test
