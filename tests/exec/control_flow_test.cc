#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/session.h"
#include "graph/text.h"
#include "support/op_runner.h"

namespace nxrt::exec {
namespace {

class ControlFlowTest : public testing::Test {
 protected:
  std::map<std::string, Tensor> run(const std::string& text, const std::map<std::string, Tensor>& inputs) {
    return Session::prepare(parse_graph(text, "test"), "test", workers_, {.verify = true})->run(inputs);
  }
  Workers workers_{1};
};

Tensor f32(const Shape& shape, std::initializer_list<float> values) { return Tensor::of<float>(shape, values); }
Tensor flag(bool value) { return Tensor::of<bool>({}, {value}); }
Tensor i64(int64_t value) { return Tensor::of<int64_t>({}, {value}); }

TEST_F(ControlFlowTest, IfTakesTheBranchAndSeesTheSurroundings) {
  const char* text = R"((bool[] c, f32[N] x, f32[1] w = {10}) => (f32[N] y) {
    a = Neg(x)
    r = If<then_branch = () => (t) { t = Add(a, w) }, else_branch = () => (e) { e = Mul(x, w) }>(c)
    y = Identity(r)
  })";
  test::expect_equal(run(text, {{"c", flag(true)}, {"x", f32({2}, {1, 2})}}).at("y"), f32({2}, {9, 8}));
  test::expect_equal(run(text, {{"c", flag(false)}, {"x", f32({2}, {1, 2})}}).at("y"), f32({2}, {10, 20}));
}

TEST_F(ControlFlowTest, BranchesOfDifferentRank) {
  const char* text = R"((bool[] c, f32[N] x) => (f32 y) {
    r = If<then_branch = () => (t) { t = Unsqueeze@11<axes = [0]>(x) }, else_branch = () => (e) { e = Neg(x) }>(c)
    y = Neg(r)
  })";
  test::expect_equal(run(text, {{"c", flag(true)}, {"x", f32({2}, {1, 2})}}).at("y"), f32({1, 2}, {-1, -2}));
  test::expect_equal(run(text, {{"c", flag(false)}, {"x", f32({2}, {1, 2})}}).at("y"), f32({2}, {1, 2}));
}

// Collatz-like: doubles until the trip count ends; collects every state.
constexpr const char* kDoubling = R"((i64[] n, bool[] go, f32[2] x) => (f32[2] last, f32[?, 2] all) {
  last, all = Loop<body = (i64[] i, bool[] c, f32[2] s) => (d, t, row) {
    d = Identity(c)  t = Add(s, s)  row = Add(s, x)
  }>(n, go, x)
})";

TEST_F(ControlFlowTest, LoopCarriesAndCollects) {
  const auto results = run(kDoubling, {{"n", i64(3)}, {"go", flag(true)}, {"x", f32({2}, {1, 3})}});
  test::expect_equal(results.at("last"), f32({2}, {8, 24}));
  test::expect_equal(results.at("all"), f32({3, 2}, {2, 6, 3, 9, 5, 15}));
}

TEST_F(ControlFlowTest, ALoopThatNeverRunsGivesItsInitialState) {
  for (const auto& [trips, go] : {std::pair<int64_t, bool>(0, true), {5, false}, {-1, true}}) {
    const auto results = run(kDoubling, {{"n", i64(trips)}, {"go", flag(go)}, {"x", f32({2}, {1, 3})}});
    test::expect_equal(results.at("last"), f32({2}, {1, 3}));
    test::expect_equal(results.at("all"), Tensor::zeros(DType::f32, {0, 2}));
  }
}

TEST_F(ControlFlowTest, LoopEndsOnItsCondition) {
  const auto results = run(R"((bool[] go, f32[] x, f32[] limit = {20}) => (f32[] y) {
    y = Loop<body = (i64[] i, bool[] c, f32[] s) => (d, t) { t = Add(s, s)  d = Less(t, limit) }>(, go, x)
  })",
                           {{"go", flag(true)}, {"x", f32({}, {3})}});
  test::expect_equal(results.at("y"), f32({}, {24}));
}

TEST_F(ControlFlowTest, StateMayGrow) {
  const auto results = run(R"((i64[] n, f32[1] x) => (f32[?] y) {
    y = Loop<body = (i64[] i, bool[] c, f32[?] s) => (d, t) { t = Concat<axis = 0>(s, x)  d = Identity(c) }>(n, , x)
  })",
                           {{"n", i64(3)}, {"x", f32({1}, {7})}});
  test::expect_equal(results.at("y"), f32({4}, {7, 7, 7, 7}));
}

TEST_F(ControlFlowTest, ScanSums) {
  const auto results = run(R"((f32[2] s, f32[T, 2] x) => (f32[2] total, f32[?, 2] sums) {
    total, sums = Scan<num_scan_inputs = 1, body = (f32[2] a, f32[2] b) => (c, d) { c = Add(a, b)  d = Identity(c) }>(s, x)
  })",
                           {{"s", f32({2}, {0, 100})}, {"x", f32({3, 2}, {1, 2, 3, 4, 5, 6})}});
  test::expect_equal(results.at("total"), f32({2}, {9, 112}));
  test::expect_equal(results.at("sums"), f32({3, 2}, {1, 102, 4, 106, 9, 112}));
}

TEST_F(ControlFlowTest, OtherScanAxesAreRefusedByName) {
  test::expect_error(Code::unsupported, "scan_input_axes", [&] {
    run(R"((f32[2] s, f32[2, T] x) => (f32[2] t) {
      t = Scan<num_scan_inputs = 1, scan_input_axes = [1], body = (f32[2] a, f32[2] b) => (c) { c = Add(a, b) }>(s, x)
    })",
        {});
  });
}

}  // namespace
}  // namespace nxrt::exec
