#include "support/op_runner.h"

namespace nxrt::test {
namespace {

Tensor list(std::initializer_list<int64_t> v) { return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, v); }

TEST(ShapeOp, WholeAndPart) {
  const Tensor x = random_f32({2, 0, 4});
  const auto part = [&](int64_t start, int64_t end) {
    return run_op("Shape", {x}, {.attributes = {{"start", start}, {"end", end}}});
  };
  expect_equal(run_op("Shape", {x}), list({2, 0, 4}));
  expect_equal(part(1, 3), list({0, 4}));
  expect_equal(part(-1, 99), list({4}));
  expect_equal(part(2, 1), list({}));
  expect_equal(run_op("Size", {random_f32({2, 3})}), Tensor::of<int64_t>({}, {6}));
}

TEST(ShapeOp, AnswersSymbols) {
  const TensorType x{DType::f32, SymShape{Dim::symbol("B"), Dim::symbol("S"), 4}, {}};
  EXPECT_EQ((*infer_op("Shape", {x})[0].elements)[1].text(), "S");
  EXPECT_EQ((*infer_op("Size", {x})[0].elements)[0].text(), "4*B*S");
}

TEST(ShapeOp, WantsOneInput) {
  expect_error(Code::invalid_argument, "the node has 2 inputs, expected 1",
               [] { run_op("Shape", {random_f32({1}), random_f32({1})}); });
}

}  // namespace
}  // namespace nxrt::test
