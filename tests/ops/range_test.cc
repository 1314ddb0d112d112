#include "support/op_runner.h"

namespace nxrt::test {
namespace {

template <class T>
Tensor scalar(T x) {
  return Tensor::of<T>({}, {x});
}

TEST(Range, UpDownAndEmpty) {
  const auto range = [](int64_t a, int64_t b, int64_t d) { return run_op("Range", {scalar(a), scalar(b), scalar(d)}); };
  expect_equal(range(2, 9, 3), Tensor::of<int64_t>({3}, {2, 5, 8}));
  expect_equal(range(5, 0, -2), Tensor::of<int64_t>({3}, {5, 3, 1}));
  EXPECT_EQ(range(5, 0, 1).count(), 0);
  expect_error(Code::invalid_argument, "delta is 0", [&] { range(0, 1, 0); });
}

TEST(Range, FloatsAreResolvedWhileRunning) {
  expect_near(run_op("Range", {scalar(1.0f), scalar(2.1f), scalar(0.5f)}), Tensor::of<float>({3}, {1, 1.5f, 2}), 1e-6f);
  const OpRun constant{.constant_inputs = {0, 1, 2}};
  expect_near(run_op("Range", {scalar(1.0), scalar(0.0), scalar(-0.5)}, constant), Tensor::of<double>({2}, {1, 0.5}),
              0);
}

TEST(Range, Halves) {
  const auto half = [](float x) { return cast_from_f32(Tensor::of<float>({}, {x}), DType::f16); };
  expect_near(to_f32(run_op("Range", {half(1), half(3), half(0.75f)})), Tensor::of<float>({3}, {1, 1.75f, 2.5f}), 0);
}

TEST(Range, FollowsSymbols) {
  const auto known = [](Dim d) { return TensorType{DType::i64, SymShape{}, std::vector<Dim>{d}}; };
  const Dim p = Dim::symbol("P"), s = Dim::symbol("S");
  EXPECT_EQ(infer_op("Range", {known(p), known(p + s), known(1)})[0].text(), "i64[S]");
  EXPECT_EQ(infer_op("Range", {known(p), known(s), known(1)})[0].text(), "i64[?]");
  EXPECT_EQ(*infer_op("Range", {known(0), known(3), known(1)})[0].elements, (std::vector<Dim>{0, 1, 2}));
}

}  // namespace
}  // namespace nxrt::test
