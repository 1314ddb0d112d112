#include "graph/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/text.h"

namespace nxrt {
namespace {

// c = 2; t = Relu(x); y = If(b) { then: t  else: x }
struct Verify : ::testing::Test {
  std::unique_ptr<Graph> g = parse_graph(R"((f32[N] x, bool[] b, f32[1] c = {2}) => (y) {
    t = Add(x, c)
    y = If<then_branch = () => (t) {}, else_branch = () => (x) {}>(b)
  })",
                                         "test");
  ValueId value(const char* name) { return g->find_value(name); }
  Node& node(size_t i) { return g->node(g->order()[i]); }
  Graph& then_branch() { return *std::get<std::shared_ptr<Graph>>(node(1).attributes.at("then_branch")); }

  void expect_broken(const std::string& what, const std::string& at = "pass") {
    try {
      verify(*g, "pass");
      ADD_FAILURE() << "passed, expected: " << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::corrupt);
      EXPECT_THAT(error.message(), testing::HasSubstr(what));
      EXPECT_THAT(error.at(), testing::HasSubstr(at));
    }
  }
};

TEST_F(Verify, AcceptsAWellFormedGraph) { verify(*g, "pass"); }

TEST_F(Verify, TwoValuesWithOneName) {
  g->value(value("t")).name = "x";
  expect_broken("two values are named 'x'");
}

TEST_F(Verify, UseBeforeDefinition) {
  g->set_order({g->order()[1], g->order()[0]});
  expect_broken("not defined before", "then_branch");
}

TEST_F(Verify, UseOfAnUndefinedValue) {
  node(0).inputs[0] = g->add_value("nowhere");
  expect_broken("input 'nowhere' is not defined before the node", "node 't' (Add)");
}

TEST_F(Verify, UseOfAnErasedValue) {
  node(0).inputs[0] = ValueId(77);
  expect_broken("input '77'");
}

TEST_F(Verify, NodeMissingFromTheOrder) {
  g->outputs() = {value("t")};
  g->set_order({g->order()[0]});
  expect_broken("does not hold every node");
}

TEST_F(Verify, NodeTwiceInTheOrder) {
  g->set_order({g->order()[0], g->order()[0], g->order()[1]});
  expect_broken("holds a node twice");
}

TEST_F(Verify, ProducerThatDisagrees) {
  g->value(value("t")).producer = g->order()[1];
  expect_broken("does not name the node as producer");
}

TEST_F(Verify, TwoProducers) {
  node(0).outputs.push_back(value("t"));
  expect_broken("output 't' has two producers");
}

TEST_F(Verify, ConstantWithAProducer) {
  g->value(value("t")).constant = Tensor::of<float>({1}, {1});
  expect_broken("constant 't' is also produced");
}

TEST_F(Verify, ConstantOfAnotherType) {
  g->value(value("c")).type.dtype = DType::f16;
  expect_broken("constant 'c' has type f16[1] but its tensor is f32[1]");
}

TEST_F(Verify, OutputThatNobodyDefines) {
  g->outputs().push_back(g->add_value("z"));
  expect_broken("graph output 'z' is never defined");
}

TEST_F(Verify, InputTwice) {
  g->inputs().push_back(value("x"));
  expect_broken("'x' is an input or capture twice");
}

TEST_F(Verify, CaptureOfALaterValue) {
  then_branch().captures()[0].outer = value("y");
  expect_broken("capture 't' reads a value that is not defined before", "node 'y' (If) then_branch");
}

TEST_F(Verify, CaptureAtTheTop) {
  g->captures().push_back({g->add_value("inner"), value("x")});
  expect_broken("a graph without surroundings captures values");
}

TEST_F(Verify, UntrimmedInputs) {
  node(0).inputs.push_back(kNoValue);
  expect_broken("not trimmed");
}

TEST_F(Verify, BodyIsMissing) {
  node(1).attributes["then_branch"] = std::shared_ptr<Graph>();
  expect_broken("attribute 'then_branch' holds no graph");
}

}  // namespace
}  // namespace nxrt
