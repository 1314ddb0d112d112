#include "gen/per_token_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "passes/pass.h"

namespace genai {
namespace {

using ::testing::HasSubstr;

// x [1, T, 8] and p [1, T] follow the tokens along axis 1, and so must y; w, n and c are what a case may need.
std::string verdict(const std::string& body, const std::string& more = "") {
  const auto graph = nxrt::parse_graph(R"(opset "" 17, "com.microsoft" 1
      (f32[1, T, 8] x, i64[1, T] p, f32[8, 8] w = {0.5...}, f32[8] n = {1...}, f32[64, 8] c = {0.25...},
       i64[] zero = {0}, i64[] one = {1}, i64[1] zero1 = {0}, i64[1] one1 = {1}, i64[1] two1 = {2}, i64[1] four1 = {4},
       i64[1] last1 = {-1})" + more + ") => (y) {" +
                                           body + "}",
                                       "proof.nxg");
  nxrt::passes::infer_shapes(*graph, "proof.nxg");
  const std::vector<TokenInput> tokens = {{graph->find_value("x"), 1}, {graph->find_value("p"), 1}};
  return why_not_per_token(*graph, tokens, graph->outputs()[0], 1, "T").value_or("");
}

struct Case {
  const char* body;
  const char* reason;  // "": proven
  const char* more = "";
};

class Proof : public testing::TestWithParam<std::pair<const char*, std::vector<Case>>> {};

TEST_P(Proof, BothWays) {
  for (const Case& c : GetParam().second) {
    SCOPED_TRACE(c.body);
    const std::string reason = verdict(c.body, c.more);
    if (*c.reason == 0) {
      EXPECT_EQ(reason, "");
    } else {
      EXPECT_THAT(reason, HasSubstr(c.reason));
    }
  }
}

using Rule = std::pair<const char*, std::vector<Case>>;

std::string rule_name(const testing::TestParamInfo<Rule>& info) { return info.param.first; }

INSTANTIATE_TEST_SUITE_P(
    , Proof,
    testing::Values(
        Rule{"Elementwise",
             {{"y = Mul(x, n)", ""},
              {"a = Sigmoid(x)  y = Mul(a, x)", ""},
              {"y = Add(x, k)", "'y' (Add) combines tokens with a constant that differs by position",
               ", f32[1, 5, 8] k = {1...}"},
              {"y = Add(x, k)", "", ", f32[1, 1, 8] k = {1...}"},
              {"a = Transpose<perm = [0, 2, 1]>(x)  b = Unsqueeze(a, zero1)  d = Unsqueeze(x, zero1)  y = Add(b, d)",
               "combines tokens on different axes"},
              {"s = Shape(x)  t = Gather(s, one)  f = Cast<to = 1>(t)  y = Div(x, f)",
               "values made from the number of tokens"},
              {"s = Shape(x)  t = Gather(s, two1)  f = Cast<to = 1>(t)  r = Sqrt(f)  y = Div(x, r)", ""}}},
        Rule{"Range",
             {{"s = Shape(x)  t = Gather(s, one)  r = Range(zero, t, one)  g = Gather(c, r)  y = Add(x, g)",
               "values made from the number of tokens"},
              {"g = Gather(c, p)  y = Add(x, g)", ""}}},
        Rule{"Gather",
             {{"y = Gather<axis = 2>(x, two1)", ""},
              {"y = Gather<axis = 1>(x, zero1)", "'y' (Gather) picks among tokens"},
              {"g = Gather<axis = 0>(x, zero)  y = Unsqueeze(g, zero1)", ""}}},
        Rule{"Normalization",
             {{"y = SimplifiedLayerNormalization(x, n)", ""},
              {"y = LayerNormalization<axis = 1>(x, w2)", "normalises over the tokens", ", f32[8] w2 = {1...}"},
              {"a, , , y = com.microsoft.SkipSimplifiedLayerNormalization(x, x, n)", ""},
              {"s = Shape(x)  t = Slice(s, one1, two1)  d = ConstantOfShape(t)  y = SimplifiedLayerNormalization(x, d)",
               "has an operand that is not per token"}}},
        Rule{"Softmax",
             {{"y = Softmax<axis = -1>(x)", ""},
              {"y = Softmax<axis = 1>(x)", "'y' (Softmax) works along the tokens"},
              {"y = Softmax@11<axis = 2>(x)", ""},
              {"y = Softmax@11(x)", "works along the tokens"}}},
        Rule{"MatMul",
             {{"y = MatMul(x, w)", ""},
              {"y = MatMul(w, x)", "sums over the tokens"},
              {"a = Transpose<perm = [0, 2, 1]>(x)  b = MatMul(w, a)  y = Transpose<perm = [0, 2, 1]>(b)", ""},
              {"a = Transpose<perm = [0, 2, 1]>(x)  y = MatMul(x, a)", "multiplies tokens with tokens"},
              {"y = MatMul(x, k)", "", ", f32[1, 8, 8] k = {1...}"},
              {"a = Unsqueeze(x, two1)  b = MatMul(a, w)  y = Squeeze(b, two1)", ""},
              {"a = Unsqueeze(x, two1)  y = MatMul(a, k)", "differs by position", ", f32[5, 8, 8] k = {1...}"}}},
        Rule{"Gemm",
             {{"a = Squeeze(x, zero1)  b = Gemm(a, w, n)  y = Unsqueeze(b, zero1)", ""},
              {"a = Squeeze(x, zero1)  b = Gemm<transA = 1>(a, a)  y = Unsqueeze(b, zero1)", "transposes the tokens"}}},
        Rule{"Transpose",
             {{"y = Transpose<perm = [0, 1, 2]>(x)", ""},
              {"y = Transpose<perm = [0, 2, 1]>(x)", "do not follow the tokens along axis 1"}}},
        Rule{"Reshape",
             {{"a = Reshape(x, k)  y = Reshape(a, l)", "", ", i64[4] k = {0, 0, 2, 4}, i64[3] l = {0, 0, 8}"},
              {"a = Reshape(x, k)  y = Reshape(a, l)", "", ", i64[2] k = {-1, 8}, i64[3] l = {1, -1, 8}"},
              {"y = Reshape(x, k)", "an axis that can't be followed ([1, T, 8] to [1, 8*T])", ", i64[2] k = {1, -1}"},
              {"y = Reshape(x, k)", "an axis that can't be followed ([1, T, 8] to [8, T])", ", i64[2] k = {8, -1}"},
              {"y = Flatten<axis = 2>(x)", "along axis 1"}}},
        Rule{"Concat",
             {{"y = Concat<axis = 2>(x, x)", ""},
              {"y = Concat<axis = 1>(x, x)", "works along the tokens"},
              {"a = Relu(x)  y, b = Split<axis = 2>(a, k)", "", ", i64[2] k = {4, 4}"}}},
        Rule{"Slice",
             {{"y = Slice(x, zero1, four1, two1)", ""},
              {"y = Slice(x, zero1, four1, last1)", ""},
              {"y = Slice(x, zero1, four1, one1)", "'y' (Slice) picks among tokens"},
              {"y = Slice(x, k, l)", "picks among tokens", ", i64[3] k = {0, 0, 0}, i64[3] l = {9, 1, 9}"},
              {"s = Shape(x)  t = Slice(s, one1, two1)  y = Slice(x, zero1, t, two1)", "depends on the tokens"}}},
        Rule{"Reduce",
             {{"s = Mul(x, x)  m = ReduceMean<axes = [-1]>(s)  r = Sqrt(m)  y = Div(x, r)", ""},
              {"m = ReduceMean<axes = [1]>(x)  y = Sub(x, m)", "reduces over the tokens"},
              {"m = ReduceSum(x)  y = Sub(x, m)", "reduces over the tokens"},
              {"m = ReduceMax<axes = [0], keepdims = 0>(x)  y = Unsqueeze(m, zero1)", ""}}},
        Rule{
            "Expand",
            {{"a = Unsqueeze(x, two1)  b = Expand(a, k)  y = Reshape(b, l)", "",
              ", i64[4] k = {1, 1, 3, 8}, i64[3] l = {0, 0, 24}"},
             {"a = Unsqueeze(x, k)  b = Expand(a, l)  y = Squeeze(b, zero1)", "", ", i64[1] k = {0}, i64[1] l = {1}"}}},
        Rule{"Rotary",
             {{"y = com.microsoft.RotaryEmbedding(x, p, k, k)", "", ", f32[64, 4] k = {0.5...}"},
              {"y = com.microsoft.RotaryEmbedding(x, zero1, k, k)", "takes its positions from the number of tokens",
               ", f32[64, 4] k = {0.5...}"}}},
        Rule{"Others",
             {{"y = CumSum(x, one)", "'y' (CumSum) is not known to work on each token alone"},
              {"y = Identity(k)", "the graph input 'k' has no role in paged decoding", ", f32[1, T, 8] k"},
              {"s = Shape(k)  a = ConstantOfShape(s)  y = Add(x, a)", "values made from the number of tokens",
               ", f32[1, T, 8] k"},
              {"y = If<then_branch = () => (s) { s = CumSum(x, one) }, else_branch = () => (x) {}>(k)",
               "'y' (If) runs a body", ", bool[] k = {1}"}}}),
    rule_name);

}  // namespace
}  // namespace genai
