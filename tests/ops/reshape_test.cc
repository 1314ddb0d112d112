#include "support/op_runner.h"

namespace nxrt::test {
namespace {

const Dim kB = Dim::symbol("B"), kS = Dim::symbol("S");

std::string shape_of(const Tensor& x) { return x.shape().text(); }
Tensor list(std::initializer_list<int64_t> v) { return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, v); }
TensorType elements(std::vector<Dim> v) {
  const Dim count = static_cast<int64_t>(v.size());
  return {DType::i64, SymShape{count}, std::move(v)};
}

TEST(Reshape, CopiesAndInfersDims) {
  const Tensor x = random_f32({2, 3, 4});
  EXPECT_EQ(shape_of(run_op("Reshape", {x, list({0, -1})})), "[2, 12]");
  EXPECT_EQ(shape_of(run_op("Reshape", {x, list({4, 6})})), "[4, 6]");
  EXPECT_EQ(shape_of(run_op("Reshape", {x, list({-1})})), "[24]");
  EXPECT_EQ(shape_of(run_op("Reshape", {random_f32({1}), list({})})), "[]");
  EXPECT_EQ(
      shape_of(run_op("Reshape", {random_f32({0, 3}), list({3, 0})}, {.attributes = {{"allowzero", int64_t{1}}}})),
      "[3, 0]");
}

TEST(Reshape, FollowsSymbols) {
  const TensorType x{DType::f32, SymShape{kB, kS, 64}, {}};
  EXPECT_EQ(infer_op("Reshape", {x, elements({0, 0, 4, 16})})[0].text(), "f32[B, S, 4, 16]");
  EXPECT_EQ(infer_op("Reshape", {x, elements({kB, kS, 4, -1})})[0].text(), "f32[B, S, 4, 16]");
  EXPECT_EQ(infer_op("Reshape", {x, elements({-1, 64})})[0].text(), "f32[B*S, 64]");
  const TensorType unknown{DType::i64, SymShape{3}, {}};
  EXPECT_EQ(infer_op("Reshape", {x, unknown})[0].text(), "f32[?, ?, ?]");
}

TEST(Reshape, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 0 has shape [2, 3], which does not reshape to [4, 2]",
               [] { run_op("Reshape", {random_f32({2, 3}), list({4, 2})}); });
  expect_error(Code::invalid_argument, "more than one -1",
               [] { run_op("Reshape", {random_f32({2, 3}), list({-1, -1})}); });
  expect_error(Code::invalid_argument, "which does not divide into [4, -1]",
               [] { run_op("Reshape", {random_f32({2, 3}), list({4, -1})}); });
  expect_error(Code::invalid_argument, "negative dim", [] { run_op("Reshape", {random_f32({2}), list({-2})}); });
  expect_error(Code::invalid_argument, "copies a dim that input 0 lacks",
               [] { run_op("Reshape", {random_f32({2}), list({2, 0})}); });
}

TEST(Reshape, Flatten) {
  const Tensor x = random_f32({2, 3, 4});
  EXPECT_EQ(shape_of(run_op("Flatten", {x})), "[2, 12]");
  EXPECT_EQ(shape_of(run_op("Flatten", {x}, {.attributes = {{"axis", int64_t{0}}}})), "[1, 24]");
  EXPECT_EQ(shape_of(run_op("Flatten", {x}, {.attributes = {{"axis", int64_t{-1}}}})), "[6, 4]");
}

TEST(Reshape, SqueezeAndUnsqueeze) {
  const Tensor x = random_f32({1, 3, 1, 4});
  EXPECT_EQ(shape_of(run_op("Squeeze", {x})), "[3, 4]");
  EXPECT_EQ(shape_of(run_op("Squeeze", {x, list({-2})})), "[1, 3, 4]");
  EXPECT_EQ(shape_of(run_op("Squeeze", {x}, {.attributes = {{"axes", std::vector<int64_t>{0}}}})), "[3, 1, 4]");
  EXPECT_EQ(shape_of(run_op("Unsqueeze", {random_f32({3}), list({0, -1})})), "[1, 3, 1]");
  expect_error(Code::invalid_argument, "dim 1 of shape [1, 3, 1, 4] is not 1",
               [&] { run_op("Squeeze", {x, list({1})}); });
  expect_error(Code::invalid_argument, "axis 0 is repeated",
               [] { run_op("Unsqueeze", {random_f32({3}), list({0, 0})}); });
  expect_error(Code::invalid_argument, "axis is 9, expected -2 to 1",
               [] { run_op("Unsqueeze", {random_f32({3}), list({9})}); });
}

TEST(Reshape, ViewsKeepElements) {
  const TensorType one{DType::i64, SymShape{}, std::vector<Dim>{kS}};
  EXPECT_EQ(*infer_op("Unsqueeze", {one, elements({0})})[0].elements, std::vector<Dim>{kS});
  EXPECT_EQ(*infer_op("Squeeze", {elements({kS}), elements({0})})[0].elements, std::vector<Dim>{kS});
}

}  // namespace
}  // namespace nxrt::test
