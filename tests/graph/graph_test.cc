#include "graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace nxrt {
namespace {

using ::testing::ElementsAre;

const TensorType kVector = {DType::f32, SymShape{Dim::symbol("N")}};

// y = Relu(x); z = Abs(y)
struct Chain : ::testing::Test {
  Graph g;
  ValueId x = g.add_input("x", kVector);
  NodeId relu = g.add_node({.op = "Relu", .inputs = {x}}, {"y"});
  ValueId y = g.node(relu).outputs[0];
  NodeId abs = g.add_node({.op = "Abs", .inputs = {y}}, {"z"});
  ValueId z = g.node(abs).outputs[0];
  Chain() { g.outputs() = {z}; }
};

TEST_F(Chain, KnowsProducersAndUsers) {
  EXPECT_EQ(g.value(y).producer, relu);
  EXPECT_FALSE(g.value(x).producer.valid());
  EXPECT_THAT(g.users(x), ElementsAre(relu));
  EXPECT_THAT(g.users(z), ElementsAre());
  EXPECT_TRUE(g.is_input(x));
  EXPECT_TRUE(g.is_output(z));
  EXPECT_EQ(g.find_value("y"), y);
  EXPECT_EQ(g.find_value("nobody"), kNoValue);
}

TEST_F(Chain, AddsANodeBeforeAnother) {
  const NodeId neg = g.add_node({.op = "Neg", .inputs = {y}}, {"n"}, abs);
  EXPECT_THAT(g.order(), ElementsAre(relu, neg, abs));
}

TEST_F(Chain, MakesTakenNamesUnique) {
  const NodeId again = g.add_node({.op = "Relu", .inputs = {x}}, {"y", ""});
  EXPECT_EQ(g.value(g.node(again).outputs[0]).name, "y_1");
  EXPECT_EQ(g.node(again).outputs[1], kNoValue);
  EXPECT_EQ(g.unique_name("y"), "y_2");
}

TEST_F(Chain, TrimsTrailingOmittedInputsAndFillsTheOpset) {
  g.opsets["com.microsoft"] = 7;
  const NodeId n =
      g.add_node({.domain = "com.microsoft", .op = "Foo", .inputs = {x, kNoValue, y, kNoValue, kNoValue}}, {"w"});
  EXPECT_THAT(g.node(n).inputs, ElementsAre(x, kNoValue, y));
  EXPECT_EQ(g.node(n).opset, 7);
}

TEST_F(Chain, ReplacingAnOutputKeepsItsName) {
  g.replace_uses(z, y);
  EXPECT_THAT(g.outputs(), ElementsAre(y));
  EXPECT_EQ(g.value(y).name, "z");
  EXPECT_EQ(g.find_value("z"), y);
  EXPECT_EQ(g.find_value("y"), z);
}

TEST_F(Chain, AnInputThatBecomesAnOutputKeepsItsOwnName) {
  g.replace_uses(z, x);
  EXPECT_EQ(g.value(x).name, "x");
}

TEST_F(Chain, ErasesOnlyWhatIsUnused) {
  EXPECT_THROW(g.erase(y), Error);
  g.replace_uses(z, y);
  g.erase(abs);
  g.erase(z);
  EXPECT_FALSE(g.alive(z));
  EXPECT_THAT(g.values(), ElementsAre(x, y));
  EXPECT_THROW(g.value(z), Error);
  EXPECT_THROW(g.node(abs), Error);
  EXPECT_THROW(g.value(ValueId(99)), Error);
}

TEST_F(Chain, RenameFreesTheOldName) {
  g.rename(y, "fresh");
  EXPECT_EQ(g.find_value("y"), kNoValue);
  EXPECT_EQ(g.find_value("fresh"), y);
}

TEST_F(Chain, CapturesAreUsesAndFollowReplacements) {
  auto body = std::make_shared<Graph>();
  const ValueId inner = body->add_value("y", kVector);
  body->outputs() = {inner};
  body->captures() = {{inner, y}};
  const NodeId branch = g.add_node({.op = "If", .inputs = {x}, .attributes = {{"then_branch", body}}}, {"r"});
  EXPECT_THAT(g.users(y), ElementsAre(abs, branch));
  g.replace_uses(y, x);
  EXPECT_EQ(body->captures()[0].outer, x);
}

TEST_F(Chain, ACloneSharesConstantBytesButNotSubgraphs) {
  auto body = std::make_shared<Graph>();
  g.add_node({.op = "If", .inputs = {x}, .attributes = {{"then_branch", body}}}, {"r"});
  const ValueId w = g.add_constant("w", Tensor::of<float>({2}, {1, 2}));
  const auto copy = g.clone();
  EXPECT_EQ(copy->value(w).constant->raw(), g.value(w).constant->raw());
  const auto& attribute = copy->node(copy->order().back()).attributes.at("then_branch");
  EXPECT_NE(std::get<std::shared_ptr<Graph>>(attribute), body);
  copy->rename(y, "other");
  EXPECT_EQ(g.value(y).name, "y");
}

TEST(TensorType, Prints) {
  const Dim b = Dim::symbol("B");
  EXPECT_EQ((TensorType{DType::f32, SymShape{b, b * Dim(2), 64}}.text()), "f32[B, 2*B, 64]");
  EXPECT_EQ(TensorType{DType::i64}.text(), "i64");
  EXPECT_EQ((SymShape{b, 4, 2}.suffix(1).count()), Dim(8));
  EXPECT_EQ((SymShape{4, 2}.constant()), Shape({4, 2}));
  EXPECT_FALSE((SymShape{4, b}.constant()));
  EXPECT_EQ(SymShape(Shape({3, 1})).text(), "[3, 1]");
}

}  // namespace
}  // namespace nxrt
