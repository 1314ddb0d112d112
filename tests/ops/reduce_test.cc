#include <cmath>
#include <limits>

#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

using Fold = double (*)(const std::vector<double>&);

double sum(const std::vector<double>& v) {
  double s = 0;
  for (const double x : v) s += x;
  return s;
}

const std::pair<const char*, Fold> kCases[] = {
    {"ReduceSum", sum},
    {"ReduceMean", [](const std::vector<double>& v) { return sum(v) / static_cast<double>(v.size()); }},
    {"ReduceMax",
     [](const std::vector<double>& v) {
       double m = -INFINITY;
       for (double x : v) m = std::fmax(m, x);
       return m;
     }},
    {"ReduceMin",
     [](const std::vector<double>& v) {
       double m = INFINITY;
       for (double x : v) m = std::fmin(m, x);
       return m;
     }},
    {"ReduceProd",
     [](const std::vector<double>& v) {
       double p = 1;
       for (double x : v) p *= x;
       return p;
     }},
    {"ReduceL1",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += std::fabs(x);
       return s;
     }},
    {"ReduceL2",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += x * x;
       return std::sqrt(s);
     }},
    {"ReduceSumSquare",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += x * x;
       return s;
     }},
    {"ReduceLogSum", [](const std::vector<double>& v) { return std::log(sum(v)); }},
    {"ReduceLogSumExp",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += std::exp(x);
       return std::log(s);
     }},
};

// x has rank 3; `axes` is a bit mask.
Tensor defined(const Tensor& x, unsigned axes, Fold fold) {
  const Shape s = x.shape();
  const auto kept = [&](int d) { return axes >> d & 1u ? int64_t{1} : s[d]; };
  Tensor y = Tensor::zeros(DType::f32, {kept(0), kept(1), kept(2)});
  std::vector<std::vector<double>> parts(static_cast<size_t>(y.count()));
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t c[3] = {i / (s[1] * s[2]), i / s[2] % s[1], i % s[2]};
    int64_t at = 0;
    for (int d = 0; d < 3; ++d) at = at * kept(d) + (axes >> d & 1u ? 0 : c[d]);
    parts[static_cast<size_t>(at)].push_back(x.data<float>()[i]);
  }
  for (size_t i = 0; i < parts.size(); ++i) y.data<float>()[i] = static_cast<float>(fold(parts[i]));
  return y;
}

using Reduce = EveryIsa;

TEST_P(Reduce, EveryAxisSetMatchesTheDefinition) {
  const Tensor x = random_f32({3, 5, 17}, 0.5f, 1.5f);
  for (const auto& [op, fold] : kCases) {
    for (unsigned axes = 1; axes < 8; ++axes) {
      SCOPED_TRACE(testing::Message() << op << " axes " << axes);
      std::vector<int64_t> list;
      for (int d = 0; d < 3; ++d) {
        if (axes >> d & 1u) list.push_back(d == 1 ? -2 : d);
      }
      const Tensor input = Tensor::of<int64_t>({static_cast<int64_t>(list.size())}, std::span<const int64_t>(list));
      const Tensor expected = defined(x, axes, fold);
      expect_near(run_op(op, {x, input}, {.cpu = &cpu(), .width = 2}), expected, 3e-5f);
      expect_near(run_op(op, {x}, {.attributes = {{"axes", list}}, .cpu = &cpu()}), expected, 3e-5f);
    }
  }
}
INSTANTIATE_EVERY_ISA(Reduce);

TEST(ReduceRules, AllAxesNoneAndKeepdims) {
  const Tensor x = random_f32({2, 3});
  const Tensor none = Tensor::zeros(DType::i64, {0});
  EXPECT_EQ(run_op("ReduceSum", {x}).shape().text(), "[1, 1]");
  EXPECT_EQ(run_op("ReduceSum", {x, none}, {.attributes = {{"keepdims", int64_t{0}}}}).shape().text(), "[]");
  expect_equal(run_op("ReduceSum", {x, none}, {.attributes = {{"noop_with_empty_axes", int64_t{1}}}}), x);
}

TEST(ReduceRules, EmptySetsHaveTheirNeutralElement) {
  const Tensor x = Tensor::zeros(DType::f32, {2, 0});
  const Tensor axes = Tensor::of<int64_t>({1}, {1});
  const float inf = std::numeric_limits<float>::infinity();
  expect_equal(run_op("ReduceSum", {x, axes}), Tensor::zeros(DType::f32, {2, 1}));
  expect_equal(run_op("ReduceProd", {x, axes}), Tensor::of<float>({2, 1}, {1, 1}));
  expect_equal(run_op("ReduceMax", {x, axes}), Tensor::of<float>({2, 1}, {-inf, -inf}));
  expect_equal(run_op("ReduceMin", {x, axes}), Tensor::of<float>({2, 1}, {inf, inf}));
}

TEST(ReduceRules, EmptySetsOfBool) {
  const Tensor x = Tensor::zeros(DType::boolean, {2, 0}), axes = Tensor::of<int64_t>({1}, {1});
  expect_equal(run_op("ReduceMax", {x, axes}), Tensor::of<bool>({2, 1}, {false, false}));
  expect_equal(run_op("ReduceMin", {x, axes}), Tensor::of<bool>({2, 1}, {true, true}));
}

TEST(ReduceRules, OtherTypes) {
  const Tensor big = Tensor::of<int64_t>({3}, {1LL << 60, 1, 1});
  expect_equal(run_op("ReduceSum", {big}), Tensor::of<int64_t>({1}, {(1LL << 60) + 2}));
  expect_equal(run_op("ReduceMax", {Tensor::of<uint8_t>({3}, {3, 255, 9})}), Tensor::of<uint8_t>({1}, {255}));
  expect_equal(run_op("ReduceMin", {Tensor::of<bool>({2}, {true, false})}), Tensor::of<bool>({1}, {false}));
  expect_equal(run_op("ReduceMean", {Tensor::of<double>({2}, {1e-300, 3e-300})}), Tensor::of<double>({1}, {2e-300}));
  const Tensor h = cast_from_f32(random_f32({4, 31}), DType::f16);
  expect_near(to_f32(run_op("ReduceSum", {h})), run_op("ReduceSum", {to_f32(h)}), 2e-3f);
}

TEST(ReduceRules, LogSumExpDoesNotOverflow) {
  expect_near(run_op("ReduceLogSumExp", {Tensor::of<float>({2}, {1000, 1000})}), Tensor::of<float>({1}, {1000.6931f}),
              1e-6f);
}

TEST(ReduceRules, SaysWhatIsWrong) {
  expect_error(Code::invalid_argument, "axis is 4, expected -2 to 1",
               [] { run_op("ReduceSum", {random_f32({2, 3}), Tensor::of<int64_t>({1}, {4})}); });
  expect_error(Code::invalid_argument, "axis 1 is repeated",
               [] { run_op("ReduceSum", {random_f32({2, 3}), Tensor::of<int64_t>({2}, {1, 1})}); });
}

TEST(ReduceRules, ProductOfAShapeIsFollowed) {
  const TensorType dims{DType::i64, SymShape{2}, std::vector<Dim>{Dim::symbol("S"), 4}};
  EXPECT_EQ((*infer_op("ReduceProd", {dims}, {.attributes = {{"keepdims", int64_t{0}}}})[0].elements)[0].text(), "4*S");
}

}  // namespace
}  // namespace nxrt::test
