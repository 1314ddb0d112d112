#include "gen/paged_rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gen/tiny_decoder.h"
#include "graph/verifier.h"

namespace genai {
namespace {

using test::everywhere;
using test::gqa_decoder;
using test::why_dense;
using test::with;
using ::testing::HasSubstr;

TEST(PagedRewrite, AStockDecoderBecomesOneRowOfTokens) {
  const auto graph = test::decoder_graph(gqa_decoder());
  PagedRewrite rewrite = rewrite_paged(*graph, test::ports_of(*graph), "decoder.nxg", 64);
  ASSERT_EQ(rewrite.reason, "");
  const PagedDecoder& decoder = *rewrite.decoder;
  EXPECT_EQ(decoder.vocab_size, test::kTinyVocab);
  ASSERT_EQ(decoder.layers.size(), 2u);
  EXPECT_EQ(decoder.layers[1].kv_heads, 1);
  EXPECT_EQ(decoder.layers[1].head_dim, 8);
  EXPECT_EQ(decoder.position_ids, "");

  nxrt::verify(*decoder.graph, "decoder.nxg");
  std::vector<std::string> ports, ops;
  for (const nxrt::ValueId id : decoder.graph->inputs()) ports.push_back(decoder.graph->value(id).name);
  EXPECT_THAT(ports, testing::ElementsAre("input_ids", "logit_rows"));
  ASSERT_EQ(decoder.graph->outputs().size(), 1u);
  EXPECT_EQ(decoder.graph->value(decoder.graph->outputs()[0]).type.text(), "f32[1, R, 40]");
  for (const nxrt::NodeId id : decoder.graph->order()) {
    const nxrt::Node& node = decoder.graph->node(id);
    ops.push_back(node.op);
    if (node.op != "PagedAttention") continue;
    EXPECT_EQ(std::get<int64_t>(node.attributes.at("num_heads")), 2);
    EXPECT_EQ(std::get<int64_t>(node.attributes.at("layer")), node.name == "attention1" ? 1 : 0);
  }
  EXPECT_EQ(std::ranges::count(ops, "PagedAttention"), 2);
  EXPECT_EQ(std::ranges::count(ops, "GroupQueryAttention") + std::ranges::count(ops, "ReduceSum"), 0)
      << "what only served the mask is gone";
  EXPECT_EQ(graph->inputs().size(), 6u) << "the graph given is left as it was";
}

TEST(PagedRewrite, PositionsStayWhenTheGraphReadsThem) {
  for (const char* rotate : {test::kRotaryNodes, test::kGatheredRotary}) {
    const auto graph = test::decoder_graph(test::position_ids_decoder(rotate));
    const PagedRewrite rewrite = rewrite_paged(*graph, test::ports_of(*graph), "decoder.nxg", 64);
    ASSERT_EQ(rewrite.reason, "");
    EXPECT_EQ(rewrite.decoder->position_ids, "position_ids");
  }
}

struct Refusal {
  const char* name;
  std::string text;
  const char* reason;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

std::vector<Refusal> refusals() {
  const std::string text = gqa_decoder();
  const std::string last = "seqlens, total, w_cos, w_sin) as \"attention1\"";
  const auto attention = [&](const std::string& inputs) {
    return with(text, last, "seqlens, total, w_cos, w_sin" + inputs + ") as \"attention1\"");
  };
  const std::string second = "qr1, kr1, v1, past_key_values.1.key, past_key_values.1.value";
  const std::string before = "q1 = MatMul(x1, w_q1)";
  return {
      {"MaskReadByTheRest",
       with(text, before,
            "m = Cast<to = 1>(attention_mask)  most = ReduceMax(m)  z = Mul(x1, most)\n q1 = MatMul(z, w_q1)"),
       "node 'm' (Cast) reads 'attention_mask' outside attention"},
      {"AttentionBias",
       with(attention(", , bias"), "x0 = Gather", "bias = Constant<value = f32[1, 1, 1, 1] {0}>()  x0 = Gather"),
       "node 'attention1' (GroupQueryAttention) takes an attention bias"},
      {"ComputedPositions", with(attention(", own"), "x0 = Gather", "own = Mul(input_ids, input_ids)  x0 = Gather"),
       "node 'attention1' (GroupQueryAttention) takes computed position ids"},
      {"AnotherLayersCache", with(text, second, "qr1, kr1, v1, past_key_values.1.key, past_key_values.0.value"),
       "node 'attention1' (GroupQueryAttention) does not read its own layer's cache"},
      {"CacheReadTwice",
       with(text, before,
            "unused = Shape(past_key_values.1.key)  late = ReduceSum(unused)  lf = Cast<to = 1>(late)"
            "  z = Mul(x1, lf)\n q1 = MatMul(z, w_q1)"),
       "the input 'past_key_values.1.key' is read by 2 nodes, expected one attention"},
      {"UnknownAttention",
       with(text,
            "a1, present.1.key, present.1.value = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1, "
            "do_rotary = 1>(\n"
            "    qr1, kr1, v1, past_key_values.1.key, past_key_values.1.value, seqlens, total, w_cos, w_sin) as "
            "\"attention1\"",
            "present.1.key = Neg(past_key_values.1.key) as \"odd\"  present.1.value = Neg(past_key_values.1.value)  a1 "
            "= Relu(qr1)"),
       "node 'odd' (Neg) reads the cache in a way that is not recognised"},
      {"SmoothSoftmax", with(text, "do_rotary = 1>(\n    qr1", "do_rotary = 1, smooth_softmax = 1>(\n    qr1"),
       "uses smooth_softmax"},
      {"FixedBatch", everywhere(text, "i64[B, S] input_ids", "i64[2, S] input_ids"),
       "the input 'input_ids' has the fixed shape [2, S]"},
      {"TokensMixedElsewhere", with(text, "x1 = Add(x0, o0)", "h = CumSum(o0, one) as \"conv\"  x1 = Add(x0, h)"),
       "node 'conv' (CumSum) is not known to work on each token alone"},
      {"AnotherInput",
       with(with(text, "f32[40, 16] w_embed", "f32[B, S, 16] image, f32[40, 16] w_embed"), "x1 = Add(x0, o0)",
            "h = Add(x0, image)  x1 = Add(h, o0)"),
       "the graph input 'image' has no role in paged decoding"},
      {"NoHead",
       with(text, "logits = MatMul(n, w_head)", "head = MatMul(n, w_head)  twin = Neg(head)  logits = Mul(head, twin)"),
       "node 'logits' (Mul) stands between the output head and the logits"},
  };
}

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithNodeAndReason) { EXPECT_THAT(why_dense(GetParam().text), HasSubstr(GetParam().reason)); }

std::string refusal_name(const testing::TestParamInfo<Refusal>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(, Refused, testing::ValuesIn(refusals()), refusal_name);

}  // namespace
}  // namespace genai
