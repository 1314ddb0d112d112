#include <rapidcheck.h>

#include <limits>

#include "support/op_runner.h"

namespace nxrt::test {
namespace {

constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

Tensor list(std::vector<int64_t> v) {
  return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, std::span<const int64_t>(v));
}
TensorType elements(std::vector<Dim> v) {
  const Dim count = static_cast<int64_t>(v.size());
  return {DType::i64, SymShape{count}, std::move(v)};
}

TEST(Slice, AsPythonSlices) {
  const Tensor x = Tensor::of<int64_t>({6}, {0, 1, 2, 3, 4, 5});
  const auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return run_op("Slice", {x, list({start}), list({end}), list({0}), list({step})});
  };
  expect_equal(slice(1, 4, 1), list({1, 2, 3}));
  expect_equal(slice(-2, kFar, 1), list({4, 5}));
  expect_equal(slice(-1, std::numeric_limits<int64_t>::min(), -2), list({5, 3, 1}));
  expect_equal(slice(0, kFar, 4), list({0, 4}));
  expect_equal(slice(4, 1, 1), list({}));
  expect_equal(slice(-100, 100, 3), list({0, 3}));
  expect_equal(slice(100, 2, -1), list({5, 4, 3}));
  expect_equal(slice(5, 0, std::numeric_limits<int64_t>::min()), list({5}));
}

// The definition by walking: what Python's range(start, stop, step) visits after clamping.
TEST(Slice, RandomBoundsOnTwoAxes) {
  EXPECT_TRUE(rc::check([] {
    const int64_t rows = *rc::gen::inRange<int64_t>(0, 5), cols = *rc::gen::inRange<int64_t>(1, 7);
    const int64_t start = *rc::gen::inRange<int64_t>(-9, 9), end = *rc::gen::inRange<int64_t>(-9, 9);
    const int64_t step = *rc::gen::element<int64_t>(-3, -1, 1, 2);
    const Tensor x = random_i64({rows, cols}, 0, 99);
    const Tensor y = run_op("Slice", {x, list({start}), list({end}), list({-1}), list({step})});
    std::vector<int64_t> visited;
    int64_t from = start < 0 ? start + cols : start, to = end < 0 ? end + cols : end;
    from = std::clamp<int64_t>(from, step > 0 ? 0 : -1, step > 0 ? cols : cols - 1);
    to = std::clamp<int64_t>(to, step > 0 ? 0 : -1, step > 0 ? cols : cols - 1);
    for (int64_t i = from; step > 0 ? i < to : i > to; i += step) visited.push_back(i);
    RC_ASSERT(y.shape() == Shape({rows, static_cast<int64_t>(visited.size())}));
    for (int64_t i = 0; i < y.count(); ++i) {
      const int64_t row = i / static_cast<int64_t>(visited.size()), col = i % static_cast<int64_t>(visited.size());
      RC_ASSERT(y.data<int64_t>()[i] == x.data<int64_t>()[row * cols + visited[static_cast<size_t>(col)]]);
    }
  }));
}

TEST(Slice, AttributesBeforeOpset10AndInt32Indices) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const OpRun old{.opset = 9,
                  .attributes = {{"starts", std::vector<int64_t>{1}},
                                 {"ends", std::vector<int64_t>{1000}},
                                 {"axes", std::vector<int64_t>{1}}}};
  expect_equal(run_op("Slice", {x}, old), Tensor::of<float>({2, 2}, {2, 3, 5, 6}));
  expect_equal(run_op("Slice", {x, Tensor::of<int32_t>({1}, {1}), Tensor::of<int32_t>({1}, {2})}),
               Tensor::of<float>({1, 3}, {4, 5, 6}));
}

TEST(Slice, SymbolicOnlyWhereItIsCertain) {
  const Dim s = Dim::symbol("S"), p = Dim::symbol("P");
  const auto length = [&](Dim dim, Dim start, Dim end) {
    return (*infer_op("Slice", {{DType::f32, SymShape{dim}, {}}, elements({start}), elements({end})})[0].shape)[0]
        .text();
  };
  EXPECT_EQ(length(s, 0, kFar), "S");
  EXPECT_EQ(length(p + s, p, p + s), "S");
  EXPECT_EQ(length(p + s, p, kFar), "S");
  EXPECT_EQ(length(s, -1, kFar), "?");  // S may be 0
  EXPECT_EQ(length(s, 1, kFar), "?");
  EXPECT_EQ(length(9, 1, 4), "3");
  const auto part = infer_op("Slice", {elements({s, 4, 8}), elements({-2}), elements({kFar})});
  EXPECT_EQ(*part[0].elements, (std::vector<Dim>{4, 8}));
}

TEST(Slice, SaysWhatIsWrong) {
  const Tensor x = random_f32({3});
  expect_error(Code::invalid_argument, "a step is 0",
               [&] { run_op("Slice", {x, list({0}), list({1}), list({0}), list({0})}); });
  expect_error(Code::invalid_argument, "axis is 1, expected -1 to 0",
               [&] { run_op("Slice", {x, list({0}), list({1}), list({1})}); });
  expect_error(Code::invalid_argument, "1 starts, 2 ends", [&] { run_op("Slice", {x, list({0}), list({1, 2})}); });
}

}  // namespace
}  // namespace nxrt::test
