#include "support/op_runner.h"

namespace nxrt::test {
namespace {

TEST(Constant, EverySpelling) {
  const auto constant = [](const char* name, Attribute value) {
    return run_op("Constant", {}, {.attributes = {{name, std::move(value)}}});
  };
  expect_equal(constant("value", Tensor::of<float>({2}, {1, 2})), Tensor::of<float>({2}, {1, 2}));
  expect_equal(constant("value_int", int64_t{7}), Tensor::of<int64_t>({}, {7}));
  expect_equal(constant("value_float", 2.5f), Tensor::of<float>({}, {2.5f}));
  expect_equal(constant("value_ints", std::vector<int64_t>{1, 2}), Tensor::of<int64_t>({2}, {1, 2}));
  expect_equal(constant("value_floats", std::vector<float>{1, 2}), Tensor::of<float>({2}, {1, 2}));
  expect_error(Code::unsupported, "the constant has none of value", [] { run_op("Constant", {}); });
}

TEST(Constant, OfShape) {
  const Tensor shape = Tensor::of<int64_t>({2}, {2, 3});
  expect_equal(run_op("ConstantOfShape", {shape}), Tensor::zeros(DType::f32, {2, 3}));
  expect_equal(run_op("ConstantOfShape", {shape}, {.attributes = {{"value", Tensor::of<uint8_t>({1}, {7})}}}),
               Tensor::of<uint8_t>({2, 3}, {7, 7, 7, 7, 7, 7}));
  expect_equal(run_op("ConstantOfShape", {Tensor::zeros(DType::i64, {0})}), Tensor::zeros(DType::f32, {}));
  expect_error(Code::invalid_argument, "the shape has a negative dim",
               [] { run_op("ConstantOfShape", {Tensor::of<int64_t>({1}, {-1})}); });
}

TEST(Constant, KnowsItsElements) {
  const auto y = infer_op("Constant", {}, {.attributes = {{"value_ints", std::vector<int64_t>{0, -1}}}});
  EXPECT_EQ(*y[0].elements, (std::vector<Dim>{0, -1}));
}

}  // namespace
}  // namespace nxrt::test
