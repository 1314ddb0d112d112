#include "gen/decoder_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gen/tiny_decoder.h"
#include "graph/text.h"
#include "support/op_runner.h"

namespace genai {
namespace {

using nxrt::kNoValue;
using ::testing::HasSubstr;

std::string name_of(const nxrt::Graph& graph, nxrt::ValueId id) {
  return id == kNoValue ? std::string("none") : graph.value(id).name;
}

std::string complaint(const nxrt::Graph& graph, const DecoderRoles& roles) {
  try {
    find_decoder_ports(graph, roles, "m.onnx");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_EQ(error.at(), "m.onnx");
    return error.message();
  }
  return "";
}

TEST(DecoderPorts, WellKnownNames) {
  const auto graph = test::decoder_graph(test::gqa_decoder());
  const DecoderPorts ports = test::ports_of(*graph);
  EXPECT_EQ(name_of(*graph, ports.input_ids), "input_ids");
  EXPECT_EQ(name_of(*graph, ports.attention_mask), "attention_mask");
  EXPECT_EQ(name_of(*graph, ports.position_ids), "none");
  EXPECT_EQ(name_of(*graph, ports.logits), "logits");
  ASSERT_EQ(ports.layers.size(), 2u);
  EXPECT_EQ(name_of(*graph, ports.layers[1].past_value), "past_key_values.1.value");
  EXPECT_EQ(name_of(*graph, ports.layers[1].present_key), "present.1.key");
}

TEST(DecoderPorts, OtherSpellingsOfTheCache) {
  for (const auto& [past, present] :
       {std::pair("past.", "present."), std::pair("past_key_values.", "present_key_values.")}) {
    std::string text = test::everywhere(test::gqa_decoder(), "present.", present);
    text = test::everywhere(text, "past_key_values.", past);
    const auto graph = test::decoder_graph(text);
    EXPECT_EQ(test::ports_of(*graph).layers.size(), 2u) << past;
  }
}

TEST(DecoderPorts, DeclaredNamesComeFirst) {
  const auto graph = nxrt::parse_graph(
      "(i64[B, S] input_ids, i64[B, S] words, f32[B, 1, P, 8] k0, f32[B, 1, P, 8] v0) => "
      "(f32[B, S, 9] scores, f32[B, S, 9] logits, nk0, nv0) { scores, logits, nk0, nv0 = Foo(words) }",
      "t");
  const DecoderRoles roles = {.input_ids = "words",
                              .attention_mask = "gone",
                              .position_ids = "gone",
                              .logits = "scores",
                              .past_key = "k%d",
                              .past_value = "v%d",
                              .present_key = "nk%d",
                              .present_value = "nv%d"};
  const DecoderPorts ports = find_decoder_ports(*graph, roles, "m.onnx");
  EXPECT_EQ(name_of(*graph, ports.input_ids), "words");
  EXPECT_EQ(name_of(*graph, ports.attention_mask), "none") << "optimizers drop it, and the declaration stays";
  EXPECT_EQ(name_of(*graph, ports.position_ids), "none");
  EXPECT_EQ(name_of(*graph, ports.logits), "scores");
  EXPECT_EQ(name_of(*graph, ports.layers.at(0).present_value), "nv0");
}

TEST(DecoderPorts, ShapesLast) {
  const auto graph = nxrt::parse_graph(
      "(i32[B, S] words, f32[B, 1, P, 8] past.0.key, f32[B, 1, P, 8] past.0.value) => "
      "(f32[B, S, 9] scores, f32[B, 1, Q, 8] present.0.key, f32[B, 1, Q, 8] present.0.value) { "
      "scores, present.0.key, present.0.value = Foo(words) }",
      "t");
  const DecoderPorts ports = find_decoder_ports(*graph, {}, "m.onnx");
  EXPECT_EQ(name_of(*graph, ports.input_ids), "words");
  EXPECT_EQ(name_of(*graph, ports.logits), "scores");
}

TEST(DecoderPorts, ComplaintsNameThePorts) {
  const auto graph = test::decoder_graph(test::gqa_decoder());
  EXPECT_THAT(complaint(*graph, {.input_ids = "ids"}),
              HasSubstr("declares input_ids = 'ids', the graph has: input_ids, attention_mask, past_key_values.0.key"));
  EXPECT_THAT(complaint(*graph, {.logits = "out"}), HasSubstr("declares logits = 'out', the graph has: logits"));
  EXPECT_THAT(complaint(*graph, {.past_key = "k%d", .past_value = "v%d", .present_key = "a%d", .present_value = "b%d"}),
              HasSubstr("no past/present pairs were found"));
  EXPECT_THAT(complaint(*graph, {.past_key = "past_key_values.%d.key",
                                 .past_value = "past_key_values.%d.value",
                                 .present_key = "a%d",
                                 .present_value = "b%d"}),
              HasSubstr("layer 0 has the cache input 'past_key_values.0.key' but not all of its value"));
  // A name without a layer would be found for ever.
  EXPECT_THAT(complaint(*graph, {.past_key = "past_key_values.0.key"}), HasSubstr("no past/present pairs"));
  const auto two = nxrt::parse_graph("(i64[B, S] a, i64[B, S] b) => (f32[B, S, 9] y) { y = Foo(a) }", "t");
  EXPECT_THAT(complaint(*two, {}), HasSubstr("no input looks like token ids; the graph's inputs are: a, b"));
  const auto none = nxrt::parse_graph("(i64[B, S] a) => (f32[B, 9] y) { y = Foo(a) }", "t");
  EXPECT_THAT(complaint(*none, {}), HasSubstr("no output looks like logits; the graph's outputs are: y"));
}

TEST(DecoderPorts, HeadSizesComeFromTheCacheOrItsAttention) {
  const std::string text = test::gqa_decoder();
  for (const std::string cache : {"f32[B, 1, Q, 8]", "f32[B, H, Q, D]", "f32[B, 1, Q, D]"}) {
    const auto graph = test::decoder_graph(test::everywhere(text, "f32[B, 1, Q, 8]", cache));
    const auto heads = cache_heads(*graph, test::ports_of(*graph).layers[1]);
    ASSERT_TRUE(heads) << cache;
    EXPECT_EQ(heads->kv_heads, 1);
    EXPECT_EQ(heads->head_dim, 8);
  }
  const auto unread = nxrt::parse_graph("(f32[B, H, P, D] k) => (k) {}", "t");
  const nxrt::ValueId k = unread->find_value("k");
  EXPECT_FALSE(cache_heads(*unread, {k, k, k, k}));
}

}  // namespace
}  // namespace genai
