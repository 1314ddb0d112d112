#include "ops/contrib_golden.h"
#include "support/every_isa.h"

namespace nxrt::test {

using GroupQueryAttention = EveryIsa;
TEST_P(GroupQueryAttention, MatchesTheOracle) { replay_golden("GroupQueryAttention", cpu(), 35); }
INSTANTIATE_EVERY_ISA(GroupQueryAttention);

namespace {
OpRun node() {
  return {
      .domain = "com.microsoft", .attributes = {{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}}, .outputs = 3};
}
std::vector<Tensor> inputs(int32_t last, int32_t total) {
  return {random_f32({1, 2, 16}),
          random_f32({1, 2, 8}),
          random_f32({1, 2, 8}),
          Tensor(),
          Tensor(),
          Tensor::of<int32_t>({1}, {last}),
          Tensor::of<int32_t>({1}, {total})};
}
}  // namespace

TEST(GroupQueryAttentionPrepare, RefusesWhatItCannotDo) {
  const auto with = [](const OpRun& how, const std::vector<Tensor>& x) {
    return [=] { run_op("GroupQueryAttention", x, how); };
  };
  OpRun windowed = node();
  windowed.attributes["sliding_window_cache"] = int64_t{1};
  expect_error(Code::unsupported, "sliding_window_cache is 1", with(windowed, inputs(1, 2)));
  OpRun quantized = node();
  quantized.attributes["k_quant_type"] = std::string("PER_TENSOR");
  expect_error(Code::unsupported, "k_quant_type is PER_TENSOR", with(quantized, inputs(1, 2)));
  std::vector<Tensor> narrow = inputs(1, 2);
  narrow[2] = random_f32({1, 2, 7});
  expect_error(Code::invalid_argument, "input 2 has shape [1, 2, 7], expected [1, 2, 8]", with(node(), narrow));
}

// Lengths are data: a wrong one must not lead a kernel outside its buffers.
TEST(GroupQueryAttentionRun, SurvivesLengthsThatContradictTheShapes) {
  for (const int32_t last : {-5, -1, 0, 9, 2'000'000'000}) {
    const Tensor y = run_op("GroupQueryAttention", inputs(last, 2), node());
    EXPECT_EQ(y.shape().text(), "[1, 2, 16]");
  }
}

}  // namespace nxrt::test
