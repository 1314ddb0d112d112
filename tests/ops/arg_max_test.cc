#include "support/op_runner.h"

namespace nxrt::test {
namespace {

TEST(ArgMax, FirstOrLastOfEquals) {
  const Tensor x = Tensor::of<float>({2, 3}, {2, 2, 1, 0, 5, 5});
  const OpRun rows{.attributes = {{"axis", int64_t{1}}}};
  OpRun last = rows, flat = rows;
  last.attributes["select_last_index"] = int64_t{1};
  flat.attributes["keepdims"] = int64_t{0};
  expect_equal(run_op("ArgMax", {x}, rows), Tensor::of<int64_t>({2, 1}, {0, 1}));
  expect_equal(run_op("ArgMax", {x}, last), Tensor::of<int64_t>({2, 1}, {1, 2}));
  expect_equal(run_op("ArgMin", {x}, flat), Tensor::of<int64_t>({2}, {2, 0}));
  expect_equal(run_op("ArgMax", {x}), Tensor::of<int64_t>({1, 3}, {0, 1, 1}));
}

TEST(ArgMax, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "axis 0 has no elements",
               [] { run_op("ArgMax", {Tensor::zeros(DType::f32, {0, 2})}); });
}

}  // namespace
}  // namespace nxrt::test
