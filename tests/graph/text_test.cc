#include "graph/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/error.h"
#include "support/random_structure.h"

namespace nxrt {
namespace {

std::string reprinted(const std::string& text, const PrintOptions& options = {}) {
  return print_graph(*parse_graph(text, "test"), options);
}

Error failure(const std::string& text) {
  try {
    parse_graph(text, "test.nxg");
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "parsed: " << text;
  return Error(Code::internal, "");
}

TEST(GraphText, PrintsWhatItParsed) {
  const std::string text =
      "opset \"\" 17, \"com.microsoft\" 1\n"
      "name \"decoder\"\n"
      "metadata \"author\" \"me \\\"too\\\"\"\n"
      "(f32[B, 2*S + 1, 64] x, z, none[2] u, f32 rankless, f32[] s, i64[2] shape = {1, -1}) => (f32[B, S, 64] y, w) {\n"
      "  \"s 1\" = Sigmoid(x)\n"
      "  y = Mul@13(x, \"s 1\") as \"/mlp/mul\"\n"
      "  w, , v = com.microsoft.Foo<axis = -1, big = 3.0, mode = \"a\\n\", none = floats[], scales = [1.5, -2.0], "
      "sizes = [1, 2], words = [\"a\", \"b\"]>(x, , shape)\n"
      "}\n";
  EXPECT_EQ(reprinted(text), text);
}

TEST(GraphText, KeepsTheTypesOfProducedValuesWhenAsked) {
  const std::string text = "(f32[N] x) => (f32[N] y) {\n  f32[N] t = Relu(x)\n  f32[N] y = Relu(t)\n}\n";
  EXPECT_EQ(reprinted(text, {.types = true}), text);
}

TEST(GraphText, KeepsEveryElementType) {
  for (const std::string tensor : {"f32[3] {1.0, -0.5, inf}",
                                   "f64[2] {0.1, -1e-300}",
                                   "f16[2] {1.5, 65504.0}",
                                   "bf16[1] {3.0}",
                                   "bool[2] {1, 0}",
                                   "i8[2] {-128, 127}",
                                   "u8[1] {255}",
                                   "i16[1] {-32768}",
                                   "u16[1] {65535}",
                                   "i32[1] {-2147483648}",
                                   "u32[1] {4294967295}",
                                   "i64[1] {-9223372036854775808}",
                                   "u64[1] {18446744073709551615}",
                                   "i4[3] {-8, 7, -1}",
                                   "u4[3] {15, 0, 9}",
                                   "i2[5] {-2, 1, 0, -1, 1}",
                                   "u2[2] {3, 1}",
                                   "f8e4m3fn[2] {255, 1}",
                                   "f4e2m1[3] {16, 2}",
                                   "c64[1] {0, 0, 128, 63, 1, 2, 3, 4}",
                                   "f32[] {nan}",
                                   "f32[0, 3] {}"}) {
    const std::string text = "() => (y) {\n  y = Constant<value = " + tensor + ">()\n}\n";
    EXPECT_EQ(reprinted(text), text);
  }
}

TEST(GraphText, BodiesCaptureTheirSurroundings) {
  const std::string text =
      "(bool[] c, f32[N] x) => (f32[N] r) {\n"
      "  t = Abs(x)\n"
      "  r = If<else_branch = () => (f32[N] x) {\n"
      "    }, then_branch = () => (u) {\n"
      "      u = If<else_branch = () => (t) {\n"
      "        }, then_branch = () => (f32[N] x) {\n"
      "        }>(c)\n"
      "    }>(c)\n"
      "}\n";
  const auto graph = parse_graph(text, "test");
  EXPECT_EQ(print_graph(*graph), text);
  // Renaming outside leaves the link intact, and the printed form still parses to the same links.
  graph->rename(graph->find_value("t"), "other");
  const std::string renamed = print_graph(*graph);
  EXPECT_THAT(renamed, testing::HasSubstr("^t = other"));
  EXPECT_EQ(reprinted(renamed), renamed);
}

TEST(GraphText, RepeatsAnElement) {
  const auto graph = parse_graph("(f32[2, 3] w = {1, 0.5...}) => (w) {}", "test");
  const auto values = graph->value(graph->find_value("w")).constant->span<float>();
  EXPECT_THAT(values, testing::ElementsAre(1, 0.5, 0.5, 0.5, 0.5, 0.5));
}

TEST(GraphText, LeavesOutLargeConstants) {
  EXPECT_THAT(reprinted("(f32[65] w = {0...}) => (w) {}"), testing::HasSubstr("f32[65] w = {…}"));
}

TEST(GraphText, SkipsComments) { EXPECT_EQ(reprinted("() // a\n => () { // b\n }"), "() => () {\n}\n"); }

struct BadText {
  const char *text, *what, *at;
};
class GraphTextErrors : public testing::TestWithParam<BadText> {};

TEST_P(GraphTextErrors, NameThePlace) {
  const Error error = failure(GetParam().text);
  EXPECT_EQ(error.code(), Code::invalid_argument);
  EXPECT_THAT(error.message(), testing::HasSubstr(GetParam().what));
  EXPECT_EQ(error.at(), GetParam().at);
}

INSTANTIATE_TEST_SUITE_P(
    , GraphTextErrors,
    testing::Values(BadText{"", "found the end, expected '('", "test.nxg:1:1"},
                    BadText{"(x) => (y) {\n  y = Relu(q)\n}", "value 'q' is not defined here", "test.nxg:2:12"},
                    BadText{"(x) => (y) {\n}", "value 'y' is not defined here", "test.nxg:1:9"},
                    BadText{"(x, x) => () {}", "value 'x' is defined twice", "test.nxg:1:5"},
                    BadText{"(x) => () { x = Relu(x) }", "value 'x' is defined twice", "test.nxg:1:13"},
                    BadText{"(x) => () { a, a = Foo(x) }", "twice", "test.nxg:1:27"},
                    BadText{"(f32[3+] x) => () {}", "expected a dim", "test.nxg:1:6"},
                    BadText{"(f32[2] x = {1}) => () {}", "found 1 elements, expected 2", "test.nxg:1:15"},
                    BadText{"(u8[1] x = {256}) => () {}", "expected a number of type u8", "test.nxg:1:13"},
                    BadText{"(f32[N] x = {1}) => () {}", "needs an element type and a shape of numbers",
                            "test.nxg:1:12"},
                    BadText{"(f32[9999999999] x = {1...}) => () {}", "fills at most", "test.nxg:1:27"},
                    BadText{"(string[1] x = {1}) => () {}", "needs an element type", "test.nxg:1:15"},
                    BadText{"() => () { y = Foo<a = [1, \"b\"]>() }", "a list holds only", "test.nxg:1:31"},
                    BadText{"() => () { y = Foo<a = 1, a = 2>() }", "given twice", "test.nxg:1:32"},
                    BadText{"() => () { y = Foo<a = \"b>() }", "does not end", "test.nxg:1:24"},
                    BadText{"() => () { y = Foo@0() }", "at least 1", "test.nxg:1:21"},
                    BadText{"(^a = b) => () {}", "only the body", "test.nxg:1:6"},
                    BadText{"() => () {} extra", "expected the end", "test.nxg:1:13"}),
    [](const auto& test) { return "Case" + std::to_string(test.index); });

RC_GTEST_PROP(GraphTextProperties, ParseInvertsPrint, ()) {
  const std::string text = print_graph(*test::random_structure(), {.types = true, .max_elements = 1000});
  RC_ASSERT(reprinted(text, {.types = true, .max_elements = 1000}) == text);
}

TEST(GraphText, RefusesDeepNesting) {
  std::string text = "() => () {";
  for (int i = 0; i < 500; ++i) text += " x = If<b = () => () {";
  EXPECT_THAT(failure(text).message(), testing::HasSubstr("nested more than"));
}

}  // namespace
}  // namespace nxrt
