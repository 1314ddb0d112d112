#include "convert/llama_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace genai {

using nxrt::Attribute;
using nxrt::Dim;
using nxrt::DType;
using nxrt::SymShape;
using nxrt::Tensor;
using nxrt::TensorType;
using nxrt::ValueId;

namespace {

// MatMulNBits': 1 float, 2 half, 4 int8 activations.
int64_t accuracy_level(ActivationBits activations) {
  return activations == ActivationBits::int8 ? 4 : activations == ActivationBits::int16 ? 2 : 1;
}

class Builder {
 public:
  Builder(const LlamaConfig& config, int64_t accuracy_level, WeightStore& weights)
      : config_(config), accuracy_level_(accuracy_level), weights_(weights), graph_(weights.graph()) {}

  void build() {
    graph_.name = "main_graph";
    graph_.opsets = {{"", 21}, {"com.microsoft", 1}};
    add_inputs();
    add_mask_reformat();
    add_rotary_tables();
    ValueId hidden = embed();
    for (int64_t layer = 0; layer < config_.layers; ++layer) hidden = decoder_layer(layer, hidden);
    graph_.outputs().insert(graph_.outputs().begin(), head(hidden));
  }

 private:
  using Attributes = std::map<std::string, Attribute>;
  struct Op {
    const char* type;
    const char* domain = "";
  };
  static constexpr Op microsoft(const char* type) { return {type, "com.microsoft"}; }

  ValueId op(const Op& what, const std::string& name, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return ops(what, name, std::move(inputs), {name + "/output_0"}, std::move(attributes))[0];
  }

  std::vector<ValueId> ops(const Op& what, const std::string& name, std::vector<ValueId> inputs,
                           const std::vector<std::string>& outputs, Attributes attributes) {
    nxrt::Node node{.name = name, .domain = what.domain, .op = what.type, .opset = graph_.opsets.at(what.domain)};
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    return graph_.node(graph_.add_node(std::move(node), outputs)).outputs;
  }

  ValueId int64_constant(const std::string& name, const nxrt::Shape& shape, std::vector<int64_t> values) {
    const ValueId known = graph_.find_value(name);
    return known.valid() ? known : graph_.add_constant(name, Tensor::of<int64_t>(shape, values));
  }

  TensorType cache_type(const char* length) const {
    return {DType::f32, SymShape{Dim::symbol("batch_size"), config_.kv_heads, Dim::symbol(length), config_.head_size}};
  }

  void add_inputs() {
    const Dim batch = Dim::symbol("batch_size");
    ids_ = graph_.add_input("input_ids", {DType::i64, SymShape{batch, Dim::symbol("sequence_length")}});
    mask_ = graph_.add_input("attention_mask", {DType::i64, SymShape{batch, Dim::symbol("total_sequence_length")}});
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      for (const char* what : {"key", "value"}) {
        past_.push_back(
            graph_.add_input(fmt::format("past_key_values.{}.{}", layer, what), cache_type("past_sequence_length")));
      }
    }
  }

  // GroupQueryAttention wants the last valid position of each row, and the longest row's length.
  void add_mask_reformat() {
    const std::string at = "/model/attn_mask_reformat/attn_mask_subgraph";
    const Attributes to_i32 = {{"to", int64_t{6}}};
    const ValueId one = int64_constant("/model/constants/INT64/[1]", {1}, {1});
    const ValueId sum = op({"ReduceSum"}, at + "/ReduceSum", {mask_, one}, {{"keepdims", int64_t{0}}});
    const ValueId last = op({"Sub"}, at + "/Sub", {sum, one});
    sequence_lengths_ = op({"Cast"}, at + "/Sub/Cast", {last}, to_i32);
    const ValueId shape = op({"Shape"}, at + "/Shape", {mask_});
    const ValueId index = int64_constant("/model/constants/INT64/1", {}, {1});
    const ValueId total = op({"Gather"}, at + "/Gather", {shape, index}, {{"axis", int64_t{0}}});
    total_length_ = op({"Cast"}, at + "/Gather/Cast", {total}, to_i32);
  }

  void add_rotary_tables() {
    const int64_t pairs = config_.head_size / 2;
    std::vector<double> frequencies(static_cast<size_t>(pairs));
    for (size_t pair = 0; pair < frequencies.size(); ++pair) {
      const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(config_.head_size);
      const double divisor = config_.rope_divisors.empty() ? 1.0 : static_cast<double>(config_.rope_divisors[pair]);
      frequencies[pair] = std::pow(config_.rope_base, exponent) / config_.rope_linear_factor / divisor;
    }
    const auto table = [&](const char* name, double (*wave)(double)) {
      return weights_.floats(name, config_.context, pairs, [&](int64_t position, float* row) {
        for (const double frequency : frequencies)
          *row++ = static_cast<float>(wave(frequency * static_cast<double>(position)));
      });
    };
    cos_ = table("cos_cache", [](double angle) { return std::cos(angle); });
    sin_ = table("sin_cache", [](double angle) { return std::sin(angle); });
  }

  ValueId to_f32(ValueId value, const std::string& name) {
    const std::optional<Tensor>& stored = graph_.value(value).constant;
    if (!stored || stored->dtype() == DType::f32) return value;
    return op({"Cast"}, name + "/Cast", {value}, {{"to", int64_t{1}}});
  }

  ValueId embed() {
    const std::string name = "/model/embed_tokens";
    table_ = weights_.matrix("token_embd.weight", "model.embed_tokens.weight",
                             {config_.vocab, config_.hidden, MatrixUse::gathered});
    if (!table_.quantized) {
      const ValueId rows = op({"Gather"}, name + "/Gather", {table_.dense, ids_});
      if (graph_.value(table_.dense).constant->dtype() == DType::f32) return rows;
      return op({"Cast"}, name + "/Cast", {rows}, {{"to", int64_t{1}}});
    }
    std::vector<ValueId> inputs = {table_.q, ids_, table_.scales};
    if (table_.zeros.valid()) inputs.push_back(table_.zeros);
    return op(microsoft("GatherBlockQuantized"), name + "/GatherBlockQuantized", inputs,
              {{"bits", int64_t{table_.form.bits}},
               {"block_size", int64_t{table_.form.block}},
               {"gather_axis", int64_t{0}},
               {"quantize_axis", int64_t{1}}});
  }

  ValueId product(const StoredMatrix& matrix, const std::string& name, ValueId x, const std::string& output) {
    if (!matrix.quantized) {
      const ValueId dense = to_f32(matrix.dense, name + "/MatMul/weight");
      return ops({"MatMul"}, name + "/MatMul", {x, dense}, {output}, {})[0];
    }
    std::vector<ValueId> inputs = {x, matrix.q, matrix.scales};
    if (matrix.zeros.valid()) inputs.push_back(matrix.zeros);
    return ops(microsoft("MatMulNBits"), fmt::format("{}/MatMul_Q{}", name, matrix.form.bits), inputs, {output},
               {{"K", matrix.columns},
                {"N", matrix.rows},
                {"bits", int64_t{matrix.form.bits}},
                {"block_size", int64_t{matrix.form.block}},
                {"accuracy_level", accuracy_level_}})[0];
  }

  // A projection of layer `layer`: `tensor` is "attn_q", `part` is "attn/q_proj".
  ValueId project(int64_t layer, const char* tensor, const std::string& part, ValueId x, MatrixRequest request) {
    const std::string name = fmt::format("/model/layers.{}/{}", layer, part);
    std::string weight = fmt::format("model.layers.{}.{}", layer, part);
    std::replace(weight.begin(), weight.end(), '/', '.');
    const std::string stem = fmt::format("blk.{}.{}", layer, tensor);
    const StoredMatrix matrix = weights_.matrix(stem + ".weight", weight + ".MatMul.weight", request);
    const ValueId y = product(matrix, name, x, name + "/MatMul/output_0");
    if (!weights_.has(stem + ".bias")) return y;
    const ValueId bias = weights_.vector(stem + ".bias", weight + ".Add.bias", request);
    return op({"Add"}, name + "/Add", {y, bias});
  }

  ValueId norm_weight(int64_t layer, const char* tensor, const char* part, int64_t size) {
    const std::string file_name = layer < config_.layers ? fmt::format("blk.{}.{}.weight", layer, tensor) : tensor;
    return weights_.vector(file_name, fmt::format("model.layers.{}.{}.weight", layer, part), {.rows = size});
  }

  // The residual stream between two norms: `residual_` + what the block before added.
  ValueId norm(int64_t layer, const char* tensor, const char* part, ValueId x) {
    const std::string name = fmt::format("/model/layers.{}/{}", layer, part);
    const ValueId weight = norm_weight(layer, tensor, part, config_.hidden);
    if (!residual_.valid()) {
      residual_ = x;
      return ops({"SimplifiedLayerNormalization"}, name + "/LayerNorm", {x, weight}, {name + "/output_0"},
                 {{"epsilon", config_.epsilon}, {"axis", int64_t{-1}}, {"stash_type", int64_t{1}}})[0];
    }
    const bool last = layer == config_.layers;
    std::vector<std::string> outputs = {name + "/output_0"};
    if (!last) outputs.insert(outputs.end(), {"", "", name + "/output_3"});
    const auto made = ops(microsoft("SkipSimplifiedLayerNormalization"), name + "/SkipLayerNorm",
                          {residual_, x, weight}, outputs, {{"epsilon", config_.epsilon}});
    if (!last) residual_ = made[3];
    return made[0];
  }

  // qwen3: each head of q or k is normed on its own.
  ValueId head_norm(int64_t layer, const char* which, ValueId x, int64_t heads) {
    const std::string tensor = fmt::format("attn_{}_norm", which);
    if (!weights_.has(fmt::format("blk.{}.{}.weight", layer, tensor))) return x;
    const std::string part = fmt::format("attn.{}_norm", which);
    const std::string name = fmt::format("/model/layers.{}/attn/{}_norm", layer, which);
    const ValueId weight = norm_weight(layer, tensor.c_str(), part.c_str(), config_.head_size);
    const ValueId apart = int64_constant(fmt::format("/model/constants/INT64/[0, -1, {}]", config_.head_size), {3},
                                         {0, -1, config_.head_size});
    const int64_t width = heads * config_.head_size;
    const ValueId joined =
        int64_constant(fmt::format("/model/constants/INT64/[0, -1, {}]", width), {3}, {0, -1, width});
    const ValueId rows = op({"Reshape"}, name + "/Reshape_1", {x, apart});
    const ValueId normed = op({"SimplifiedLayerNormalization"}, name + "/SimplifiedLayerNormalization", {rows, weight},
                              {{"epsilon", config_.epsilon}, {"axis", int64_t{-1}}, {"stash_type", int64_t{1}}});
    return op({"Reshape"}, name + "/Reshape_2", {normed, joined});
  }

  ValueId attention(int64_t layer, ValueId x) {
    const int64_t size = config_.head_size, interleaved = config_.interleaved_rotary_rows ? size : 0;
    const int64_t q_rows = config_.heads * size, kv_rows = config_.kv_heads * size, hidden = config_.hidden;
    const auto linear = [](int64_t rows, int64_t columns, int64_t head = 0) {
      return MatrixRequest{rows, columns, MatrixUse::linear, head};
    };
    ValueId q = project(layer, "attn_q", "attn/q_proj", x, linear(q_rows, hidden, interleaved));
    ValueId k = project(layer, "attn_k", "attn/k_proj", x, linear(kv_rows, hidden, interleaved));
    const ValueId v = project(layer, "attn_v", "attn/v_proj", x, linear(kv_rows, hidden));
    q = head_norm(layer, "q", q, config_.heads);
    k = head_norm(layer, "k", k, config_.kv_heads);
    const std::string name = fmt::format("/model/layers.{}/attn/GroupQueryAttention", layer);
    const size_t at = static_cast<size_t>(layer) * 2;
    const auto made =
        ops(microsoft("GroupQueryAttention"), name,
            {q, k, v, past_[at], past_[at + 1], sequence_lengths_, total_length_, cos_, sin_},
            {name + "/output_0", fmt::format("present.{}.key", layer), fmt::format("present.{}.value", layer)},
            {{"num_heads", config_.heads},
             {"kv_num_heads", config_.kv_heads},
             {"do_rotary", int64_t{1}},
             {"scale", 1.0f / std::sqrt(static_cast<float>(size))},
             {"local_window_size", int64_t{-1}},
             {"rotary_interleaved", int64_t{0}}});
    for (const size_t i : {1, 2}) {
      graph_.value(made[i]).type = cache_type("total_sequence_length");
      graph_.outputs().push_back(made[i]);
    }
    return project(layer, "attn_output", "attn/o_proj", made[0], linear(hidden, q_rows));
  }

  ValueId feed_forward(int64_t layer, ValueId x) {
    const int64_t inner = config_.feed_forward, hidden = config_.hidden;
    const std::string name = fmt::format("/model/layers.{}/mlp", layer);
    const ValueId gate = project(layer, "ffn_gate", "mlp/gate_proj", x, {inner, hidden});
    const ValueId up = project(layer, "ffn_up", "mlp/up_proj", x, {inner, hidden});
    const ValueId sigmoid = op({"Sigmoid"}, name + "/act_fn/Sigmoid", {gate});
    const ValueId silu = op({"Mul"}, name + "/act_fn/Mul", {gate, sigmoid});
    const ValueId y = op({"Mul"}, name + "/Mul", {silu, up});
    return project(layer, "ffn_down", "mlp/down_proj", y, {hidden, inner});
  }

  ValueId decoder_layer(int64_t layer, ValueId hidden) {
    const ValueId attended = attention(layer, norm(layer, "attn_norm", "input_layernorm", hidden));
    return feed_forward(layer, norm(layer, "ffn_norm", "post_attention_layernorm", attended));
  }

  ValueId head(ValueId hidden) {
    const ValueId x = norm(config_.layers, "output_norm.weight", "final_norm_layernorm", hidden);
    const ValueId logits = product(head_matrix(), "/lm_head", x, "logits");
    graph_.value(logits).type = {DType::f32,
                                 SymShape{Dim::symbol("batch_size"), Dim::symbol("sequence_length"), config_.vocab}};
    return logits;
  }

  StoredMatrix head_matrix() {
    if (!config_.tied_embeddings) {
      return weights_.matrix("output.weight", "lm_head.MatMul.weight", {config_.vocab, config_.hidden});
    }
    StoredMatrix matrix = weights_.as_linear(table_, "lm_head.MatMul.weight");
    if (matrix.quantized) return matrix;
    const ValueId table = to_f32(table_.dense, "/lm_head/weight");
    matrix.dense = op({"Transpose"}, "/lm_head/Transpose", {table}, {{"perm", std::vector<int64_t>{1, 0}}});
    graph_.value(matrix.dense).type = {DType::f32, SymShape{config_.hidden, config_.vocab}};
    return matrix;
  }

  const LlamaConfig& config_;
  int64_t accuracy_level_;
  WeightStore& weights_;
  nxrt::Graph& graph_;
  ValueId ids_, mask_, sequence_lengths_, total_length_, cos_, sin_, residual_;
  std::vector<ValueId> past_;
  StoredMatrix table_;
};

}  // namespace

void build_llama_graph(const LlamaConfig& config, ActivationBits activations, WeightStore& weights) {
  Builder(config, accuracy_level(activations), weights).build();
}

}  // namespace genai
