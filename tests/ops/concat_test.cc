#include "support/op_runner.h"

namespace nxrt::test {
namespace {

OpRun along(int64_t axis) { return {.attributes = {{"axis", axis}}}; }

TEST(Concat, AlongEachAxis) {
  const Tensor a = Tensor::of<float>({2, 2}, {1, 2, 3, 4}), b = Tensor::of<float>({2, 1}, {5, 6});
  expect_equal(run_op("Concat", {a, b}, along(1)), Tensor::of<float>({2, 3}, {1, 2, 5, 3, 4, 6}));
  expect_equal(run_op("Concat", {a, a}, along(-2)), Tensor::of<float>({4, 2}, {1, 2, 3, 4, 1, 2, 3, 4}));
  expect_equal(run_op("Concat", {a}, along(0)), a);
}

TEST(Concat, EmptyPartsAndBytes) {
  const Tensor empty = Tensor::zeros(DType::u8, {0}), x = Tensor::of<uint8_t>({3}, {1, 2, 3});
  expect_equal(run_op("Concat", {empty, x, empty}, along(0)), x);
}

TEST(Concat, AddsSymbolsAndJoinsElements) {
  const Dim p = Dim::symbol("P"), s = Dim::symbol("S");
  const auto kv =
      infer_op("Concat", {{DType::f32, SymShape{1, p, 8}, {}}, {DType::f32, SymShape{1, s, 8}, {}}}, along(1));
  EXPECT_EQ(kv[0].text(), "f32[1, P + S, 8]");
  const TensorType a{DType::i64, SymShape{1}, std::vector<Dim>{s}}, b{DType::i64, SymShape{2}, std::vector<Dim>{4, 16}};
  EXPECT_EQ(*infer_op("Concat", {a, b}, along(0))[0].elements, (std::vector<Dim>{s, 4, 16}));
}

TEST(Concat, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 1 has shape [3, 1], which can't follow [2, 2] along axis 1",
               [] { run_op("Concat", {random_f32({2, 2}), random_f32({3, 1})}, along(1)); });
  expect_error(Code::invalid_argument, "axis is 2, expected -2 to 1",
               [] { run_op("Concat", {random_f32({2, 2})}, along(2)); });
  expect_error(Code::invalid_argument, "attribute 'axis' is missing", [] { run_op("Concat", {random_f32({2, 2})}); });
}

}  // namespace
}  // namespace nxrt::test
