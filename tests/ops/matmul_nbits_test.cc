#include <cmath>
#include <cstring>

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
  run_op("MatMulNBits", inputs(), node(32, 2, &cpu()));
  EXPECT_TRUE(ledger().saw("MatMulNBits", name_of(GetParam()), "int4 b32 q16"));
  run_op("MatMulNBits", inputs(), node(32, 0, &cpu()));
  EXPECT_TRUE(ledger().saw("MatMulNBits", name_of(GetParam()), "int4 b32 f32"));
}

// Many rows and columns, so that tiles and chunks of panels have borders inside the result; weights of known values.
std::vector<Tensor> wide_inputs(int64_t rows, int64_t n, int64_t k) {
  Tensor q = Tensor::uninitialized(DType::u8, {n, k / 32, 16});
  for (int64_t i = 0; i < q.count(); ++i) q.data<uint8_t>()[i] = static_cast<uint8_t>(i * 37 + i / 11);
  return {random_f32({rows, k}), q, random_f32({n, k / 32})};
}

OpRun wide_node(int64_t n, int64_t k, int64_t level, const Kernels* cpu) {
  OpRun run = node(32, level, cpu);
  run.attributes["K"] = k;
  run.attributes["N"] = n;
  return run;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double most = 0;
  for (int64_t i = 0; i < a.count(); ++i)
    most = std::max<double>(most, std::fabs(a.data<float>()[i] - b.data<float>()[i]));
  return most;
}

// Level 2 promises half precision: nearer to f32 than int8 activations by more than a factor of 100.
TEST_P(MatMulNBits, TwoInt8TermsAreNearlyFloat) {
  constexpr int64_t kRows = 131, kN = 531, kK = 96;
  const std::vector<Tensor> x = wide_inputs(kRows, kN, kK);
  const Tensor f32 = run_op("MatMulNBits", x, wide_node(kN, kK, 1, &cpu()));
  const Tensor q16 = run_op("MatMulNBits", x, wide_node(kN, kK, 2, &cpu()));
  const Tensor q8 = run_op("MatMulNBits", x, wide_node(kN, kK, 4, &cpu()));
  EXPECT_LT(largest_difference(q16, f32), largest_difference(q8, f32) / 100);
  EXPECT_GT(largest_difference(q8, f32), 0);
}

TEST_P(MatMulNBits, ARowOfTwoTermsDoesNotDependOnItsNeighbours) {
  constexpr int64_t kRows = 133, kN = 300, kK = 64;
  const std::vector<Tensor> x = wide_inputs(kRows, kN, kK);
  const Tensor all = run_op("MatMulNBits", x, wide_node(kN, kK, 2, &cpu()));
  for (const int64_t row : {int64_t{0}, int64_t{64}, kRows - 1}) {
    std::vector<Tensor> alone = x;
    alone[0] = Tensor::of<float>({1, kK}, std::span<const float>(x[0].data<float>() + row * kK, kK));
    const Tensor one = run_op("MatMulNBits", alone, wide_node(kN, kK, 2, &cpu()));
    EXPECT_EQ(std::memcmp(one.raw(), all.data<float>() + row * kN, kN * 4), 0) << row;
  }
}
// The group of `count` products of x [rows, k] whose weights are cut from wide_inputs, and each of them alone.
struct Group {
  static constexpr int64_t kK = 64;
  std::vector<int64_t> columns;
  std::vector<Tensor> x;                      // A, then B, scales, nothing, nothing, bias of each
  std::vector<std::vector<Tensor>> products;  // the same as inputs of MatMulNBits

  Group(int64_t rows, std::vector<int64_t> n) : columns(std::move(n)), x({random_f32({rows, kK})}) {
    for (const int64_t c : columns) {
      const std::vector<Tensor> one = wide_inputs(1, c, kK);
      const Tensor bias = random_f32({c});
      products.push_back({x[0], one[1], one[2], Tensor(), Tensor(), bias});
      x.insert(x.end(), {one[1], one[2], Tensor(), Tensor(), bias});
    }
  }
  OpRun node(int64_t level, bool gated, const Kernels* cpu) const {
    OpRun run = wide_node(0, kK, level, cpu);
    run.domain = "nxrt";
    run.attributes["N"] = columns;
    run.attributes["gated"] = int64_t{gated};
    run.outputs = gated ? 1 : static_cast<int>(columns.size());
    run.constant_inputs.clear();
    for (int i = 1; i < static_cast<int>(x.size()); ++i) run.constant_inputs.insert(i);
    run.width = 3;
    return run;
  }
};

TEST_P(MatMulNBits, AGroupGivesWhatItsProductsGiveAlone) {
  for (const int64_t rows : {1, 3, 130}) {
    const Group group(rows, {33, 16, 70});
    for (const int64_t level : {0, 2, 4}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, level " << level);
      const std::vector<Tensor> all = run_op_outputs("MatMulNBitsGroup", group.x, group.node(level, false, &cpu()));
      ASSERT_EQ(all.size(), 3u);
      for (size_t i = 0; i < all.size(); ++i) {
        expect_equal(all[i],
                     run_op("MatMulNBits", group.products[i], wide_node(group.columns[i], Group::kK, level, &cpu())));
      }
    }
  }
}

TEST_P(MatMulNBits, AGatedGroupIsTheActivationOfItsProducts) {
  for (const int64_t rows : {1, 5, 130}) {
    const Group group(rows, {531, 531});
    for (const int64_t level : {0, 2, 4}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, level " << level);
      std::vector<Tensor> parts;
      for (const auto& inputs : group.products) {
        parts.push_back(run_op("MatMulNBits", inputs, wide_node(531, Group::kK, level, &cpu())));
      }
      const Tensor expected = run_op("SiluMul", parts, {.domain = "nxrt", .cpu = &cpu()});
      expect_equal(run_op("MatMulNBitsGroup", group.x, group.node(level, true, &cpu())), expected);
    }
  }
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

TEST(MatMulNBitsPrepare, AGatedGroupHasTwoEqualProducts) {
  const Group group(1, {32, 16});
  expect_error(Code::invalid_argument, "gated is set, expected two equal elements in N",
               [&] { run_op("MatMulNBitsGroup", group.x, group.node(2, true, nullptr)); });
}

}  // namespace nxrt::test
