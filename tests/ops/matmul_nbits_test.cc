#include "base/dispatch_ledger.h"
#include "base/process_gate.h"
#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using MatMulNBits = EveryIsa;
TEST_P(MatMulNBits, MatchesTheOracle) { replay_golden("MatMulNBits", cpu(), 40); }

namespace {
OpRun node(int64_t block, int64_t level, const Kernels* cpu) {
  return {.domain = "com.microsoft",
          .attributes = {{"K", int64_t{64}},
                         {"N", int64_t{3}},
                         {"bits", int64_t{4}},
                         {"block_size", block},
                         {"accuracy_level", level}},
          .constant_inputs = {1, 2, 4},
          .cpu = cpu};
}
std::vector<Tensor> inputs() { return {random_f32({2, 64}), Tensor::zeros(DType::u8, {3, 2, 16}), random_f32({3, 2})}; }
}  // namespace

TEST_P(MatMulNBits, TheLedgerTellsWhichRouteRan) {
  ledger().reset();
  gates::dispatch_ledger().enable();
  run_op("MatMulNBits", inputs(), node(32, 4, &cpu()));
  EXPECT_TRUE(ledger().saw("MatMulNBits", name_of(GetParam()), "int4 b32 q8"));
  EXPECT_FALSE(ledger().saw("MatMulNBits", name_of(GetParam()), "int4 b32 f32"));
  run_op("MatMulNBits", inputs(), node(32, 0, &cpu()));
  EXPECT_TRUE(ledger().saw("MatMulNBits", name_of(GetParam()), "int4 b32 f32"));
}
INSTANTIATE_EVERY_ISA(MatMulNBits);

TEST(MatMulNBitsPrepare, SaysWhatIsWrong) {
  const auto with = [](int64_t block, std::vector<Tensor> x) {
    return [=] { run_op("MatMulNBits", x, node(block, 0, nullptr)); };
  };
  expect_error(Code::invalid_argument, "block_size is 24, expected 16, 32, 64, 128 or 256", with(24, inputs()));
  expect_error(Code::invalid_argument, "input 2 (scales) has shape [3, 2], expected [3, 4]", with(16, inputs()));
  std::vector<Tensor> permuted = inputs();
  permuted.insert(permuted.end(), {Tensor(), Tensor::zeros(DType::i32, {64})});
  expect_error(Code::unsupported, "g_idx[32] is 0, expected 1", with(32, permuted));
  std::vector<Tensor> narrow = inputs();
  narrow[0] = random_f32({2, 63});
  expect_error(Code::invalid_argument, "expected its last dim to be K = 64", with(32, narrow));
}

}  // namespace nxrt::test
