#include "support/op_runner.h"

namespace nxrt::test {
namespace {

Tensor list(std::initializer_list<int64_t> v) { return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, v); }
OpRun mode(const char* name) { return {.attributes = {{"mode", std::string(name)}}}; }

TEST(Pad, EachMode) {
  const Tensor x = Tensor::of<float>({3}, {1, 2, 3}), pads = list({2, 3});
  expect_equal(run_op("Pad", {x, pads}), Tensor::of<float>({8}, {0, 0, 1, 2, 3, 0, 0, 0}));
  expect_equal(run_op("Pad", {x, pads, Tensor::of<float>({}, {9})}), Tensor::of<float>({8}, {9, 9, 1, 2, 3, 9, 9, 9}));
  expect_equal(run_op("Pad", {x, pads}, mode("edge")), Tensor::of<float>({8}, {1, 1, 1, 2, 3, 3, 3, 3}));
  expect_equal(run_op("Pad", {x, pads}, mode("reflect")), Tensor::of<float>({8}, {3, 2, 1, 2, 3, 2, 1, 2}));
  expect_equal(run_op("Pad", {x, pads}, mode("wrap")), Tensor::of<float>({8}, {2, 3, 1, 2, 3, 1, 2, 3}));
}

TEST(Pad, TwoAxesAxesInputAndCropping) {
  const Tensor x = Tensor::of<int32_t>({2, 2}, {1, 2, 3, 4});
  expect_equal(run_op("Pad", {x, list({0, 1, 1, 0})}), Tensor::of<int32_t>({3, 3}, {0, 1, 2, 0, 3, 4, 0, 0, 0}));
  expect_equal(run_op("Pad", {x, list({1, 0}), Tensor(), list({-1})}), Tensor::of<int32_t>({2, 3}, {0, 1, 2, 0, 3, 4}));
  expect_equal(run_op("Pad", {x, list({-1, 0, 0, 1})}), Tensor::of<int32_t>({1, 3}, {3, 4, 0}));
}

TEST(Pad, AttributesBeforeOpset11) {
  const OpRun old{.opset = 2, .attributes = {{"pads", std::vector<int64_t>{1, 0}}, {"value", 5.0f}}};
  expect_equal(run_op("Pad", {Tensor::of<float>({2}, {1, 2})}, old), Tensor::of<float>({3}, {5, 1, 2}));
}

TEST(Pad, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "3 pads for 1 axes, expected 2",
               [] { run_op("Pad", {random_f32({2}), list({1, 2, 3})}); });
  expect_error(Code::invalid_argument, "the pads leave axis 0 with -1 elements",
               [] { run_op("Pad", {random_f32({2}), list({-3, 0})}); });
  expect_error(Code::invalid_argument, "attribute 'mode' is 'mirror'",
               [] { run_op("Pad", {random_f32({2}), list({0, 0})}, mode("mirror")); });
}

}  // namespace
}  // namespace nxrt::test
