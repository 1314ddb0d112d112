#include "exec/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "support/gate_for_test.h"
#include "support/op_runner.h"
#include "support/random_inputs.h"

namespace nxrt::exec {
namespace {

using ::testing::HasSubstr;

class SessionTest : public testing::Test {
 protected:
  std::unique_ptr<Session> prepare(const std::string& text, SessionOptions options = {}) {
    options.verify = true;
    return Session::prepare(parse_graph(text, "test.nxg"), "test.nxg", workers_, options);
  }
  static std::string message(const std::function<void()>& body) {
    std::string text;
    try {
      body();
    } catch (const Error& error) {
      text = error.text();
    }
    EXPECT_FALSE(text.empty()) << "no error";
    return text;
  }
  Workers workers_{2};
};

Tensor f32(const Shape& shape, std::initializer_list<float> values) { return Tensor::of<float>(shape, values); }

TEST_F(SessionTest, RunsAGraph) {
  auto session = prepare("(f32[B, 2] x, f32[2] w = {10, 20}) => (f32[B, 2] y) { a = Add(x, w)  y = Neg(a) }");
  test::expect_equal(session->run({{"x", f32({1, 2}, {1, 2})}}).at("y"), f32({1, 2}, {-11, -22}));
  test::expect_equal(session->run({{"x", f32({2, 2}, {1, 2, 3, 4})}}).at("y"), f32({2, 2}, {-11, -22, -13, -24}));
  test::expect_equal(session->run({{"x", Tensor::zeros(DType::f32, {0, 2})}}).at("y"),
                     Tensor::zeros(DType::f32, {0, 2}));
}

TEST_F(SessionTest, OutputsThatNothingComputes) {
  auto session = prepare(
      "(f32[B] x, f32[2] c = {5, 6}) => (f32[B] x, f32[2] c, f32[B, 1] v, f32[B] y, f32[1, B] w) {"
      "  y = Neg(x)  s = Unsqueeze@11<axes = [1]>(y)  v = Identity(s)  w = Unsqueeze@11<axes = [0]>(y) }");
  const auto results = session->run({{"x", f32({2}, {1, -2})}});
  test::expect_equal(results.at("x"), f32({2}, {1, -2}));
  test::expect_equal(results.at("c"), f32({2}, {5, 6}));
  test::expect_equal(results.at("y"), f32({2}, {-1, 2}));
  test::expect_equal(results.at("v"), f32({2, 1}, {-1, 2}));
  test::expect_equal(results.at("w"), f32({1, 2}, {-1, 2}));
}

TEST_F(SessionTest, RefusesInputsByName) {
  auto session = prepare("(f32[B, 2] x, f32[B] z) => (f32[B, 2] y, f32[B] n) { y = Neg(x)  n = Neg(z) }");
  const Tensor x = Tensor::zeros(DType::f32, {3, 2}), z = Tensor::zeros(DType::f32, {3});
  EXPECT_THAT(message([&] { session->run({{"x", x}}); }), HasSubstr("input 'z' is missing, expected f32[B]"));
  EXPECT_THAT(message([&] { session->run({{"x", Tensor::zeros(DType::i64, {3, 2})}, {"z", z}}); }),
              HasSubstr("input 'x' is i64, expected f32[B, 2]"));
  EXPECT_THAT(message([&] { session->run({{"x", Tensor::zeros(DType::f32, {3})}, {"z", z}}); }),
              HasSubstr("input 'x' has shape [3], expected f32[B, 2]"));
  EXPECT_THAT(message([&] { session->run({{"x", Tensor::zeros(DType::f32, {3, 5})}, {"z", z}}); }),
              HasSubstr("input 'x' has shape [3, 5], expected f32[B, 2]"));
  EXPECT_THAT(message([&] { session->run({{"x", x}, {"z", Tensor::zeros(DType::f32, {4})}}); }),
              HasSubstr("input 'z' has shape [4], expected f32[B] with B = 3"));
  EXPECT_THAT(message([&] { session->run({{"x", x}, {"z", z}, {"q", z}}); }), HasSubstr("there is no input 'q'"));
  EXPECT_NO_THROW(session->run({{"x", x}, {"z", z}})) << "a refused run leaves the session usable";
}

// Over symbols inference can't refuse this; with numbers the operator that cares must, before anything runs.
TEST_F(SessionTest, RefusesShapesThatAnOperatorCannotJoin) {
  auto session = prepare("(f32[M, K] x, f32[L, 3] w) => (f32[M, 3] y) { y = MatMul(x, w) }");
  const Tensor w = Tensor::zeros(DType::f32, {4, 3});
  EXPECT_NO_THROW(session->run({{"x", Tensor::zeros(DType::f32, {2, 4})}, {"w", w}}));
  EXPECT_THAT(message([&] { session->run({{"x", Tensor::zeros(DType::f32, {2, 5})}, {"w", w}}); }),
              HasSubstr("(MatMul)"));
  EXPECT_NO_THROW(session->run({{"x", Tensor::zeros(DType::f32, {2, 4})}, {"w", w}}));
}

TEST_F(SessionTest, NamesAllOperatorsWithoutADefinition) {
  const std::string text =
      message([&] { prepare("(f32[B] x) => (f32[B] y) { a = Foo(x)  b = acme.Bar(a)  c = Foo(b)  y = Neg(c) }"); });
  EXPECT_THAT(text, HasSubstr("2 operators without an implementation"));
  EXPECT_THAT(text, HasSubstr("Foo (ai.onnx version 21): 2 nodes, first node 'a' (Foo)"));
  EXPECT_THAT(text, HasSubstr("Bar (acme version 1): 1 node"));
}

TEST_F(SessionTest, AFalseDeclarationOfAnOutputIsAnError) {
  EXPECT_THAT(message([&] { prepare("(f32[B, 2] x) => (f32[B, 3] y) { y = Neg(x) }"); }),
              HasSubstr("value 'y' is f32[B, 2], but the file declares f32[B, 3]"));
}

// Exporters declare false shapes of values inside the graph, and every other runtime runs such files.
TEST_F(SessionTest, AFalseDeclarationInsideIsOnlyAHint) {
  auto session = prepare("(f32[B, 2] x) => (f32[B, 2] y) { f32[3] a = Neg(x)  y = Neg(a) }");
  const Tensor x = f32({1, 2}, {1, 2});
  EXPECT_EQ(session->run({{"x", x}}).at("y").span<float>()[1], 2);
}

TEST_F(SessionTest, BoundOutputsAreWrittenInPlace) {
  auto session = prepare("(f32[B] x) => (f32[B] y, f32[B] x) { y = Neg(x) }");
  const Tensor x = f32({3}, {1, 2, 3});
  Tensor y = Tensor::zeros(DType::f32, {3}), copy = Tensor::zeros(DType::f32, {3});
  Binding binding;
  binding.input(0, x);
  binding.output(0, y);
  binding.output(1, copy);
  session->run(binding);
  test::expect_equal(y, f32({3}, {-1, -2, -3}));
  test::expect_equal(copy, x);
  EXPECT_EQ(session->result(0).raw(), y.raw());
  binding.output(0, Tensor::zeros(DType::f32, {4}));
  EXPECT_THAT(message([&] { session->run(binding); }), HasSubstr("output 'y' is bound to f32[4], expected f32[3]"));
  binding.output(0, Tensor());
  binding.output(1, Tensor::zeros(DType::i64, {3}));
  EXPECT_THAT(message([&] { session->run(binding); }), HasSubstr("output 'x' is bound to i64[3], expected f32[3]"));
}

TEST_F(SessionTest, InputsAreNeverWritten) {
  auto session = prepare("(f32[B] x) => (f32[B] y) { a = Relu(x)  b = Neg(a)  y = Exp(b) }");
  const Tensor x = f32({3}, {-1, 2, -3});
  session->run({{"x", x}});
  test::expect_equal(x, f32({3}, {-1, 2, -3}));
}

TEST_F(SessionTest, AnUnnamedDimIsAnythingAndTheSameForWhatDependsOnIt) {
  auto session = prepare("(f32[?, 2] x) => (f32[?, 2] y) { a = Neg(x)  y = Add(a, x) }");
  test::expect_equal(session->run({{"x", f32({2, 2}, {1, 2, 3, 4})}}).at("y"), Tensor::zeros(DType::f32, {2, 2}));
}

TEST_F(SessionTest, AnInputOfUnknownRank) {
  auto session = prepare("(f32 x, f32[2] w = {1, 2}) => (f32 y) { a = Add(x, w)  y = Neg(a) }");
  test::expect_equal(session->run({{"x", f32({2}, {1, 2})}}).at("y"), f32({2}, {-2, -4}));
  test::expect_equal(session->run({{"x", f32({1, 2}, {3, 2})}}).at("y"), f32({1, 2}, {-4, -4}));
}

TEST_F(SessionTest, ShapesThatDependOnData) {
  auto session = prepare("(f32[N] x, i64[R] s) => (f32 y, f32[N] z) { r = Reshape(x, s)  y = Neg(r)  z = Neg(x) }");
  const auto results = session->run({{"x", f32({4}, {1, 2, 3, 4})}, {"s", Tensor::of<int64_t>({2}, {2, -1})}});
  test::expect_equal(results.at("y"), f32({2, 2}, {-1, -2, -3, -4}));
  test::expect_equal(results.at("z"), f32({4}, {-1, -2, -3, -4}));
}

TEST_F(SessionTest, ADataDependentCount) {
  auto session = prepare("(f32[N] x) => (i64[1, ?] y, i64[1, ?] d) { i = NonZero(x)  y = Identity(i)  d = Add(i, i) }");
  auto results = session->run({{"x", f32({4}, {0, 2, 0, 4})}});
  test::expect_equal(results.at("y"), Tensor::of<int64_t>({1, 2}, {1, 3}));
  test::expect_equal(results.at("d"), Tensor::of<int64_t>({1, 2}, {2, 6}));
  results = session->run({{"x", f32({1}, {0})}});
  test::expect_equal(results.at("y"), Tensor::zeros(DType::i64, {1, 0}));
}

TEST_F(SessionTest, BoundsPlanTheArenaOnce) {
  const char* graph = "(f32[T, 8] x) => (f32[T, 8] y) { a = Exp(x)  b = Neg(a)  c = Softmax(b)  y = Add(c, a) }";
  auto session = prepare(graph, {.symbol_bounds = {{"T", 64}}});
  const int64_t planned = session->activation_bytes();
  EXPECT_GE(planned, 2 * 64 * 8 * 4);
  for (const int64_t t : {64, 1, 63, 7}) session->run(test::random_inputs(session->graph(), 1, {{"T", t}}));
  EXPECT_EQ(session->activation_bytes(), planned);
  session->run(test::random_inputs(session->graph(), 1, {{"T", 100}}));
  EXPECT_GT(session->activation_bytes(), planned) << "past the bound it grows";
}

TEST_F(SessionTest, activation_memory_planner_reports_static_decode_graph_savings) {
  auto session = prepare(
      "(f32[1, 8] x, f32[8, 8] w = {0.5...}) => (f32[1, 8] y) {"
      "  a = MatMul(x, w)  b = Exp(a)  c = MatMul(b, w)  d = Neg(c)  e = MatMul(d, w)  y = Tanh(e) }");
  const auto inputs = test::random_inputs(session->graph(), 1);
  {
    GateForTest gate(gates::activation_memory_plan());
    gates::activation_memory_plan().disable();
    session->run(inputs);
    EXPECT_FALSE(session->activation_stats().complete) << "off keeps nothing";
  }
  EXPECT_EQ(session->activation_stats().naive_bytes, 0);
  GateForTest gate(gates::activation_memory_plan());
  session->run(inputs);
  const ActivationPlanStats& stats = session->activation_stats();
  EXPECT_TRUE(stats.complete);
  EXPECT_GT(stats.peak_bytes, 0);
  EXPECT_GT(stats.naive_bytes, stats.peak_bytes);
  EXPECT_GT(stats.savings_ratio, 0.0);
  EXPECT_EQ(stats.unknown_sizes, 0);
}

TEST_F(SessionTest, TheGateStartsTheProfileAndOnlyThat) {
  auto session = prepare("(f32[B] x) => (f32[B] y) { a = Exp(x)  y = Neg(a) }");
  const auto inputs = test::random_inputs(session->graph(), 1);
  {
    GateForTest cleared(gates::phase_profile());
  }
  session->run(inputs);
  EXPECT_TRUE(session->profile().rows().empty());
  GateForTest gate(gates::phase_profile());
  session->run(inputs);
  EXPECT_THAT(session->profile().table(), HasSubstr("op Exp"));
  EXPECT_THAT(session->profile().table(), HasSubstr("phase bind_inputs"));
  EXPECT_EQ(session->activation_stats().naive_bytes, 0);
}

}  // namespace
}  // namespace nxrt::exec
