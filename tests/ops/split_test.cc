#include "support/op_runner.h"

namespace nxrt::test {
namespace {

Tensor list(std::initializer_list<int64_t> v) { return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, v); }

TEST(Split, ByInputAttributeAndEqualParts) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  OpRun how{.attributes = {{"axis", int64_t{1}}}, .outputs = 2};
  for (const bool attribute : {false, true}) {
    OpRun run = how;
    if (attribute) run.attributes["split"] = std::vector<int64_t>{1, 2};
    const auto y = attribute ? run_op_outputs("Split", {x}, run) : run_op_outputs("Split", {x, list({1, 2})}, run);
    expect_equal(y[0], Tensor::of<float>({2, 1}, {1, 4}));
    expect_equal(y[1], Tensor::of<float>({2, 2}, {2, 3, 5, 6}));
  }
  const auto halves = run_op_outputs("Split", {x}, {.outputs = 2});
  expect_equal(halves[1], Tensor::of<float>({1, 3}, {4, 5, 6}));
}

TEST(Split, NumOutputsMakesASmallerLastPart) {
  const auto y =
      run_op_outputs("Split", {random_f32({7})}, {.attributes = {{"num_outputs", int64_t{3}}}, .outputs = 3});
  EXPECT_EQ(y[0].count(), 3);
  EXPECT_EQ(y[2].count(), 1);
}

TEST(Split, FollowsSymbolsAndElements) {
  const auto y = infer_op("Split", {{DType::f32, SymShape{Dim::symbol("S"), 9}, {}}},
                          {.attributes = {{"axis", int64_t{1}}}, .outputs = 3});
  EXPECT_EQ(y[2].text(), "f32[S, 3]");
}

TEST(Split, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "the split lengths add up to 4, expected 3",
               [] { run_op_outputs("Split", {random_f32({3}), list({2, 2})}, {.outputs = 2}); });
  expect_error(Code::invalid_argument, "3 split lengths for 2 outputs",
               [] { run_op_outputs("Split", {random_f32({3}), list({1, 1, 1})}, {.outputs = 2}); });
  expect_error(Code::invalid_argument, "an axis of 3 does not divide into 2 equal parts",
               [] { run_op_outputs("Split", {random_f32({3})}, {.outputs = 2}); });
  expect_error(Code::invalid_argument, "a split length is negative",
               [] { run_op_outputs("Split", {random_f32({3}), list({-1, 4})}, {.outputs = 2}); });
}

}  // namespace
}  // namespace nxrt::test
