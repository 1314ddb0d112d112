#include "gen/tiny_decoder.h"

#include <gtest/gtest.h>

#include "gen/paged_rewrite.h"
#include "graph/text.h"
#include "passes/pass.h"
#include "support/op_runner.h"

namespace genai::test {
namespace {

constexpr const char* kHeader = R"(opset "" 17, "com.microsoft" 1
(i64[B, S] input_ids, i64[B, P] attention_mask, POSITIONS
 f32[B, 1, Q, 8] past_key_values.0.key, f32[B, 1, Q, 8] past_key_values.0.value,
 f32[B, 1, Q, 8] past_key_values.1.key, f32[B, 1, Q, 8] past_key_values.1.value,
 f32[40, 16] w_embed, f32[64, 4] w_cos, f32[64, 4] w_sin, f32[16] w_norm, f32[16, 40] w_head,
 f32[16, 16] w_q0, f32[16, 8] w_k0, f32[16, 8] w_v0, f32[16, 16] w_o0,
 f32[16, 16] w_q1, f32[16, 8] w_k1, f32[16, 8] w_v1, f32[16, 16] w_o1,
 i64[1] axis1 = {1}, i64[] one = {1}, i64[1] one1 = {1}) =>
(f32[B, S, 40] logits, f32[B, 1, P, 8] present.0.key, f32[B, 1, P, 8] present.0.value,
 f32[B, 1, P, 8] present.1.key, f32[B, 1, P, 8] present.1.value) {
  sum = ReduceSum<keepdims = 1>(attention_mask, axis1)
  less = Sub(sum, one1)
  seqlens = Cast<to = 6>(less)
  mask_shape = Shape(attention_mask)
  width = Gather(mask_shape, one)
  total = Cast<to = 6>(width)
  x0 = Gather(w_embed, input_ids)
)";
constexpr const char* kLayer = R"(
  q% = MatMul(x%, w_q%)
  k% = MatMul(x%, w_k%)
  v% = MatMul(x%, w_v%)
  ROTATE
  a%, present.%.key, present.%.value = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1, do_rotary = R>(
    qr%, kr%, v%, past_key_values.%.key, past_key_values.%.value, seqlens, total, w_cos, w_sin) as "attention%"
  o% = MatMul(a%, w_o%)
  x^ = Add(x%, o%)
)";
constexpr const char* kEnd = R"(
  n = SimplifiedLayerNormalization(x2, w_norm)
  logits = MatMul(n, w_head)
})";

std::string layers(const std::string& rotate, const std::string& do_rotary) {
  std::string text;
  for (int layer = 0; layer < 2; ++layer) {
    std::string one = with(with(kLayer, "ROTATE", rotate), "do_rotary = R", "do_rotary = " + do_rotary);
    one = everywhere(one, "%", std::to_string(layer));
    text += everywhere(one, "^", std::to_string(layer + 1));
  }
  return text;
}

}  // namespace

const char* const kRotaryNodes = R"(
  qr% = com.microsoft.RotaryEmbedding(q%, position_ids, w_cos, w_sin)
  kr% = com.microsoft.RotaryEmbedding(k%, position_ids, w_cos, w_sin))";

const char* const kGatheredRotary = R"(
  i64[4] heads% = Constant<value = i64[4] {0, 0, -1, 8}>()
  i64[3] flat% = Constant<value = i64[3] {0, 0, -1}>()
  halves% = Constant<value = i64[2] {4, 4}>()
  zero% = Constant<value = i64[1] {0}>()
  four% = Constant<value = i64[1] {4}>()
  eight% = Constant<value = i64[1] {8}>()
  last% = Constant<value = i64[1] {-1}>()
  two% = Constant<value = i64[1] {2}>()
  cg% = Gather(w_cos, position_ids)
  sg% = Gather(w_sin, position_ids)
  cc% = Concat<axis = -1>(cg%, cg%)
  ss% = Concat<axis = -1>(sg%, sg%)
  c% = Unsqueeze(cc%, two%)
  s% = Unsqueeze(ss%, two%)
  qh% = Reshape(q%, heads%)
  qa% = Slice(qh%, zero%, four%, last%)
  qb% = Slice(qh%, four%, eight%, last%)
  qn% = Neg(qb%)
  qs% = Concat<axis = -1>(qn%, qa%)
  qc% = Mul(qh%, c%)
  qt% = Mul(qs%, s%)
  qm% = Add(qc%, qt%)
  qr% = Reshape(qm%, flat%)
  kh% = Reshape(k%, heads%)
  ka%, kb% = Split<axis = -1>(kh%, halves%)
  kn% = Neg(kb%)
  ks% = Concat<axis = -1>(kn%, ka%)
  kc% = Mul(kh%, c%)
  kt% = Mul(ks%, s%)
  km% = Add(kc%, kt%)
  kr% = Reshape(km%, flat%))";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    ADD_FAILURE() << "'" << from << "' does not stand at exactly one place";
    return text;
  }
  return text.replace(at, from.size(), to);
}

std::string everywhere(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string gqa_decoder() {
  return with(kHeader, "POSITIONS", "") + layers("qr% = Identity(q%)  kr% = Identity(k%)", "1") + kEnd;
}

std::string position_ids_decoder(const std::string& rotate) {
  return with(kHeader, "POSITIONS", "i64[B, S] position_ids,") + layers(rotate, "0") + kEnd;
}

std::unique_ptr<nxrt::Graph> decoder_graph(const std::string& text, uint32_t seed) {
  auto graph = nxrt::parse_graph(text, "decoder.nxg");
  std::vector<nxrt::ValueId> inputs;
  for (const nxrt::ValueId input : graph->inputs()) {
    nxrt::Value& value = graph->value(input);
    if (!value.name.starts_with("w_")) {
      inputs.push_back(input);
      continue;
    }
    const nxrt::Tensor random = nxrt::test::random_f32(*value.type.shape->constant(), -0.6f, 0.6f, ++seed);
    value.constant = nxrt::test::cast_from_f32(random, value.type.dtype);
  }
  graph->inputs() = inputs;
  nxrt::passes::infer_shapes(*graph, "decoder.nxg");
  return graph;
}

DecoderPorts ports_of(const nxrt::Graph& graph) { return find_decoder_ports(graph, {}, "decoder.nxg"); }

std::string why_dense(const std::string& text) {
  const auto graph = decoder_graph(text);
  const PagedRewrite rewrite = rewrite_paged(*graph, ports_of(*graph), "decoder.nxg", 64);
  EXPECT_EQ(rewrite.decoder.has_value(), rewrite.reason.empty());
  return rewrite.reason;
}

std::unique_ptr<PagedModel> paged_model(const std::string& text, nxrt::Workers& workers, nxrt::DType kv) {
  const auto graph = decoder_graph(text);
  PagedRewrite rewrite = rewrite_paged(*graph, ports_of(*graph), "decoder.nxg", 64);
  if (!rewrite.decoder) throw Error(Code::unsupported, rewrite.reason);
  return std::make_unique<PagedModel>(std::move(*rewrite.decoder), "decoder.nxg", workers,
                                      PagedModel::Options{.context_length = 64, .max_step_rows = 48, .kv_dtype = kv},
                                      nxrt::exec::SessionOptions{.verify = true});
}

std::unique_ptr<DenseModel> dense_model(const std::string& text, nxrt::Workers& workers) {
  auto graph = decoder_graph(text);
  const DecoderPorts ports = ports_of(*graph);
  return std::make_unique<DenseModel>(std::move(graph), ports, "decoder.nxg", workers,
                                      DenseModel::Options{.context_length = 64, .max_step_rows = 48},
                                      nxrt::exec::SessionOptions{.verify = true});
}

}  // namespace genai::test
