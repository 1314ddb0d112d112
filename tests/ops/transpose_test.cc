#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "support/op_runner.h"

namespace nxrt::test {
namespace {

Attribute perm(std::vector<int64_t> p) { return p; }

TEST(Transpose, AnyPermutationOfAnyShapeAndSize) {
  EXPECT_TRUE(rc::check([] {
    const int rank = *rc::gen::inRange(1, 5);
    std::vector<int64_t> dims, order(static_cast<size_t>(rank));
    for (int d = 0; d < rank; ++d) dims.push_back(*rc::gen::inRange<int64_t>(1, 6));
    std::iota(order.begin(), order.end(), 0);
    for (int d = rank - 1; d > 0; --d)
      std::swap(order[static_cast<size_t>(d)], order[static_cast<size_t>(*rc::gen::inRange(0, d + 1))]);
    const Tensor x = random_i64(Shape(dims), -99, 99);
    const Tensor y = run_op("Transpose", {x}, {.attributes = {{"perm", perm(order)}}});
    for (int64_t i = 0; i < y.count(); ++i) {
      std::vector<int64_t> at(static_cast<size_t>(rank));
      int64_t rest = i, index = 0;
      for (int d = rank - 1; d >= 0; --d) {
        at[static_cast<size_t>(order[static_cast<size_t>(d)])] = rest % y.shape()[d];
        rest /= y.shape()[d];
      }
      for (int d = 0; d < rank; ++d) index = index * dims[static_cast<size_t>(d)] + at[static_cast<size_t>(d)];
      RC_ASSERT(y.data<int64_t>()[i] == x.data<int64_t>()[index]);
    }
  }));
}

TEST(Transpose, ReversesWithoutPermAndMovesEverySize) {
  expect_equal(run_op("Transpose", {Tensor::of<uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6})}),
               Tensor::of<uint8_t>({3, 2}, {1, 4, 2, 5, 3, 6}));
  const Tensor h = cast_from_f32(random_f32({7, 5}), DType::f16);
  expect_near(to_f32(run_op("Transpose", {h})), run_op("Transpose", {to_f32(h)}), 0);
}

TEST(Transpose, ThreadsChangeNothing) {
  const Tensor x = random_f32({33, 5, 257});
  const OpRun how{.attributes = {{"perm", perm({2, 0, 1})}}};
  OpRun wide = how;
  wide.width = 3;
  expect_equal(run_op("Transpose", {x}, wide), run_op("Transpose", {x}, how));
}

TEST(Transpose, SaysWhatIsWrong) {
  for (const auto& bad : {std::vector<int64_t>{0, 0}, {0}, {0, 2}, {-1, 0}}) {
    expect_error(Code::invalid_argument, "attribute 'perm' is no permutation of the 2 dims",
                 [&] { run_op("Transpose", {random_f32({2, 3})}, {.attributes = {{"perm", perm(bad)}}}); });
  }
}

}  // namespace
}  // namespace nxrt::test
