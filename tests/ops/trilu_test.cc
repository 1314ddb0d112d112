#include "support/op_runner.h"

namespace nxrt::test {
namespace {

OpRun part(bool upper) { return {.attributes = {{"upper", int64_t{upper}}}}; }

TEST(Trilu, EveryDiagonal) {
  const Tensor x = random_i64({2, 3, 4}, 1, 99);
  for (const bool upper : {false, true}) {
    for (const int64_t k : {INT64_MIN, int64_t{-4}, int64_t{-1}, int64_t{0}, int64_t{2}, int64_t{9}}) {
      const Tensor y = run_op("Trilu", {x, Tensor::of<int64_t>({}, {k})}, part(upper));
      for (int64_t i = 0; i < y.count(); ++i) {
        const int64_t row = i / 4 % 3, col = i % 4;
        const int64_t diagonal = std::clamp<int64_t>(k, -100, 100);
        const bool kept = upper ? col >= row + diagonal : col <= row + diagonal;
        EXPECT_EQ(y.data<int64_t>()[i], kept ? x.data<int64_t>()[i] : 0) << upper << " " << k << " at " << i;
      }
    }
  }
}

TEST(Trilu, EyeLike) {
  const Tensor x = Tensor::zeros(DType::i32, {2, 3});
  expect_equal(run_op("EyeLike", {x}), Tensor::of<int32_t>({2, 3}, {1, 0, 0, 0, 1, 0}));
  expect_equal(run_op("EyeLike", {x}, {.attributes = {{"k", int64_t{1}}, {"dtype", int64_t{1}}}}),
               Tensor::of<float>({2, 3}, {0, 1, 0, 0, 0, 1}));
}

TEST(Trilu, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "input 0 has shape [3], expected a matrix",
               [] { run_op("Trilu", {random_f32({3})}); });
  expect_error(Code::invalid_argument, "input 0 has shape [3], expected rank 2",
               [] { run_op("EyeLike", {random_f32({3})}); });
}

}  // namespace
}  // namespace nxrt::test
