#include "gen/paged_rewrite.h"

#include <algorithm>
#include <array>

#include "gen/per_token_proof.h"
#include "gen/subgraph_probe.h"
#include "gen/written_out_attention.h"
#include "passes/pass.h"
#include "passes/support/rewriter.h"

namespace genai {
using nxrt::Dim;
using nxrt::DType;
using nxrt::Graph;
using nxrt::kNoValue;
using nxrt::Node;
using nxrt::NodeId;
using nxrt::SymShape;
using nxrt::ValueId;
namespace {

// Inputs of com.microsoft.GroupQueryAttention.
enum GqaInput : size_t {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kSeqlens,
  kTotalLength,
  kCos,
  kSin,
  kPositions,
  kBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm,
  kValidRows
};

constexpr auto kCarriedAttributes =
    std::to_array<std::string_view>({"num_heads", "kv_num_heads", "scale", "softcap", "local_window_size", "do_rotary",
                                     "rotary_interleaved", "rotary_embedding_dim", "qk_norm_epsilon"});

ValueId input_of(const Node& node, size_t i) { return i < node.inputs.size() ? node.inputs[i] : kNoValue; }

int64_t integer(const Node& node, std::string_view name, int64_t fallback) {
  const auto attribute = node.attributes.find(std::string(name));
  if (attribute == node.attributes.end()) return fallback;
  const auto* value = std::get_if<int64_t>(&attribute->second);
  return value ? *value : fallback;
}

// Why this attention can't be paged, or empty.
std::string refusal(const Graph& graph, const Node& node, const CachePorts& ports, ValueId positions) {
  if (node.op != "GroupQueryAttention" || node.domain != "com.microsoft") {
    return "reads the cache in a way that is not recognised; GroupQueryAttention is";
  }
  if (input_of(node, kPastKey) != ports.past_key || input_of(node, kPastValue) != ports.past_value)
    return "does not read its own layer's cache";
  if (node.outputs.size() < 3 || node.outputs[1] != ports.present_key || node.outputs[2] != ports.present_value) {
    return "does not write its own layer's cache";
  }
  const ValueId given_positions = input_of(node, kPositions);
  if (given_positions != kNoValue && given_positions != positions) return "takes computed position ids";
  if (input_of(node, kBias) != kNoValue) return "takes an attention bias";
  if (input_of(node, kKeyScale) != kNoValue || input_of(node, kValueScale) != kNoValue) return "has a quantized cache";
  if (input_of(node, kValidRows) != kNoValue) return "is told which rows are padding";
  if (integer(node, "smooth_softmax", 0) > 0) return "uses smooth_softmax";
  if (integer(node, "qk_output", 0) > 0) return "outputs its scores";
  if (integer(node, "kv_cache_bit_width", 0) > 0) return "has a quantized cache";
  if (graph.value(ports.past_key).type.dtype != DType::f32 && graph.value(ports.past_key).type.dtype != DType::f16) {
    return "has a cache of " + std::string(name_of(graph.value(ports.past_key).type.dtype));
  }
  return {};
}

class Rewriter {
 public:
  Rewriter(const Graph& graph, const DecoderPorts& ports, const std::string& where, int64_t context_length)
      : original_(graph), graph_(graph.clone()), ports_(ports), where_(where), context_length_(context_length) {}

  PagedRewrite run() {
    if (std::string reason = pack_inputs(); !reason.empty()) return {{}, reason};
    for (int layer = 0; layer < static_cast<int>(ports_.layers.size()); ++layer) {
      const bool whole = reads_whole_cache(layer);
      std::string reason = whole ? replace_attention(layer) : replace_written_out(layer);
      if (!reason.empty()) return {{}, reason};
    }
    if (std::string reason = drop_cache_ports(); !reason.empty()) return {{}, reason};
    infer();
    std::vector<TokenInput> tokens = {{ports_.input_ids, 1}};
    if (ports_.position_ids != kNoValue) tokens.push_back({ports_.position_ids, 1});
    if (auto reason = why_not_per_token(*graph_, tokens, ports_.logits, 1, PagedDecoder::kRows)) return {{}, *reason};
    if (std::string reason = select_logit_rows(); !reason.empty()) return {{}, reason};
    infer();
    const std::optional<int64_t> vocab = (*graph_->value(ports_.logits).type.shape)[2].constant();
    if (!vocab) return {{}, "the size of the vocabulary is not known from the graph"};
    return {finish(static_cast<int>(*vocab)), {}};
  }

 private:
  PagedDecoder finish(int vocab_size) {
    PagedDecoder decoder;
    decoder.layers = std::move(layers_);
    decoder.vocab_size = vocab_size;
    decoder.input_ids = graph_->value(ports_.input_ids).name;
    decoder.position_ids = ports_.position_ids == kNoValue ? "" : graph_->value(ports_.position_ids).name;
    decoder.logit_rows = graph_->value(logit_rows_).name;
    decoder.logits = graph_->value(ports_.logits).name;
    decoder.graph = std::move(graph_);
    return decoder;
  }

  // input_ids and position_ids become [1, T].
  std::string pack_inputs() {
    for (const ValueId input : {ports_.input_ids, ports_.position_ids}) {
      if (input == kNoValue) continue;
      nxrt::Value& value = graph_->value(input);
      if (!value.type.shape || value.type.shape->rank() != 2) return "the input '" + value.name + "' is not of rank 2";
      for (const Dim& dim : value.type.shape->dims()) {
        if (dim.is_constant() && *dim.constant() != 1)
          return "the input '" + value.name + "' has the fixed shape " + value.type.shape->text();
      }
      value.type.shape = SymShape{Dim(1), Dim::symbol(PagedDecoder::kRows)};
    }
    return {};
  }

  // One node does all of it; written out, a Concat joins past and new keys first.
  bool reads_whole_cache(int layer) const {
    const std::vector<NodeId> users = original_.users(ports_.layers[static_cast<size_t>(layer)].past_key);
    return std::ranges::none_of(users, [&](NodeId id) { return original_.node(id).op == "Concat"; });
  }

  std::string replace_attention(int layer) {
    const CachePorts& cache = ports_.layers[static_cast<size_t>(layer)];
    const std::vector<NodeId> users = graph_->users(cache.past_key);
    if (users.size() != 1)
      return "the input '" + graph_->value(cache.past_key).name + "' is read by " + std::to_string(users.size()) +
             " nodes, expected one attention";
    const Node old = graph_->node(users[0]);
    if (std::string reason = refusal(*graph_, old, cache, ports_.position_ids); !reason.empty())
      return place_of(old) + " " + reason;
    const std::optional<KvHeads> sizes = cache_heads(*graph_, cache);
    if (!sizes) return place_of(old) + " has a cache of unknown head size";
    layers_.push_back(*sizes);

    Node paged{.name = old.name, .domain = "nxrt", .op = "PagedAttention", .opset = 1};
    paged.inputs = {input_of(old, kQuery), input_of(old, kKey),  input_of(old, kValue),     input_of(old, kCos),
                    input_of(old, kSin),   input_of(old, kSink), input_of(old, kQueryNorm), input_of(old, kKeyNorm)};
    while (paged.inputs.back() == kNoValue) paged.inputs.pop_back();
    for (const auto& [name, attribute] : old.attributes) {
      if (std::ranges::find(kCarriedAttributes, name) != kCarriedAttributes.end()) paged.attributes[name] = attribute;
    }
    paged.attributes["layer"] = int64_t{layer};
    const NodeId added = graph_->add_node(std::move(paged), {graph_->unique_name(old.name + "/paged")}, users[0]);
    graph_->replace_uses(old.outputs[0], graph_->node(added).outputs[0]);
    for (const ValueId present : {cache.present_key, cache.present_value}) std::erase(graph_->outputs(), present);
    graph_->erase(users[0]);
    return {};
  }

  std::string replace_written_out(int layer) {
    const CachePorts& cache = ports_.layers[static_cast<size_t>(layer)];
    const WrittenOutMatch match = match_written_out_attention(original_, cache);
    if (!match.attention) return match.reason;
    const WrittenOutAttention& found = *match.attention;
    const std::string at = place_of(original_.node(found.last));
    const DType dtype = original_.value(cache.past_key).type.dtype;
    if (dtype != DType::f32 && dtype != DType::f16) return at + " has a cache of " + std::string(name_of(dtype));
    const std::optional<float> scale = scale_of(found);
    if (!scale) return at + " scales its scores by something that depends on the tokens";
    const MaskPattern mask = pattern_of(found.mask);
    if (!mask.known) return at + " has a mask that " + mask.reason;

    const auto rows = [&](ValueId heads, int count) { return joined_heads(heads, count * found.head_dim, found.last); };
    Node paged{.name = original_.node(found.last).name, .domain = "nxrt", .op = "PagedAttention", .opset = 1};
    paged.inputs = {rows(found.query, found.heads), rows(found.key, found.kv_heads), rows(found.value, found.kv_heads)};
    paged.attributes = {{"num_heads", int64_t{found.heads}},
                        {"kv_num_heads", int64_t{found.kv_heads}},
                        {"scale", *scale},
                        {"layer", int64_t{layer}}};
    if (mask.window > 0) paged.attributes["local_window_size"] = mask.window;
    const ValueId result = split_heads(add(std::move(paged), found.last), found.heads, found.head_dim, found.last);
    graph_->replace_uses(found.output, result);
    layers_.push_back({found.kv_heads, found.head_dim});
    for (const ValueId present : {cache.present_key, cache.present_value}) std::erase(graph_->outputs(), present);
    return {};
  }

  std::optional<float> scale_of(const WrittenOutAttention& found) const {
    double scale = 1;
    for (const bool divides : {false, true}) {
      for (const ValueId value : divides ? found.divisors : found.factors) {
        SubgraphProbe probe(original_, ports_, value, where_);
        if (!probe.reason().empty()) return {};
        const double one = probe.number(0, 1);
        if (one != probe.number(5, 4)) return {};
        scale = divides ? scale / one : scale * one;
      }
    }
    return static_cast<float>(scale);
  }

  // Layers often share one mask.
  MaskPattern pattern_of(ValueId mask) {
    if (mask == kNoValue) return {.reason = "is missing: rows see what comes after them"};
    const auto known = masks_.find(mask);
    if (known != masks_.end()) return known->second;
    SubgraphProbe probe(original_, ports_, mask, where_);
    return masks_[mask] =
               probe.reason().empty() ? mask_pattern(probe, context_length_) : MaskPattern{.reason = probe.reason()};
  }

  ValueId add(Node node, NodeId before) {
    const std::string name = graph_->unique_name(node.op);
    return graph_->node(graph_->add_node(std::move(node), {name}, before)).outputs[0];
  }

  ValueId reshaped(ValueId value, std::initializer_list<int64_t> dims, NodeId before) {
    const nxrt::Shape shape({static_cast<int64_t>(dims.size())});
    const ValueId to = graph_->add_constant(graph_->unique_name("dims"), nxrt::Tensor::of<int64_t>(shape, dims));
    return add({.op = "Reshape", .inputs = {value, to}}, before);
  }

  ValueId exchanged(ValueId value, NodeId before) {
    return add({.op = "Transpose", .inputs = {value}, .attributes = {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}},
               before);
  }

  // [1, H, T, D] → [1, T, H·D] and back.
  ValueId joined_heads(ValueId value, int width, NodeId before) {
    return reshaped(exchanged(value, before), {0, 0, width}, before);
  }
  ValueId split_heads(ValueId value, int heads, int head_dim, NodeId before) {
    return exchanged(reshaped(value, {0, 0, heads, head_dim}, before), before);
  }

  std::string drop_cache_ports() {
    nxrt::passes::fold_constants(*graph_, {.where = where_});  // a head size asked of a cache's shape is a number
    erase_dead_nodes();
    std::vector<ValueId> gone;
    for (const CachePorts& cache : ports_.layers) gone.insert(gone.end(), {cache.past_key, cache.past_value});
    if (ports_.attention_mask != kNoValue) gone.push_back(ports_.attention_mask);
    for (const ValueId input : gone) {
      const std::vector<NodeId> users = graph_->users(input);
      if (!users.empty())
        return place_of(graph_->node(users[0])) + " reads '" + graph_->value(input).name + "' outside attention";
      graph_->erase(input);
    }
    if (ports_.position_ids != kNoValue && graph_->users(ports_.position_ids).empty()) {
      graph_->erase(ports_.position_ids);
      ports_.position_ids = kNoValue;
    }
    return {};
  }

  void erase_dead_nodes() {
    nxrt::passes::Rewriter edit(*graph_);
    const std::vector<NodeId> nodes = edit.nodes();
    for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
      if (edit.alive(*id)) edit.erase_if_dead(*id);
    }
  }

  // Types of everything but inputs and constants are forgotten and inferred anew for [1, T].
  void infer() {
    for (const ValueId id : graph_->values()) {
      nxrt::Value& value = graph_->value(id);
      if (value.constant || graph_->is_input(id)) continue;
      value.type.shape.reset();
      value.type.elements.reset();
    }
    nxrt::passes::infer_shapes(*graph_, where_);
  }

  // Rows that nobody samples from need no logits: pick the wanted rows in front of the output head.
  std::string select_logit_rows() {
    ValueId at = ports_.logits;
    NodeId head;
    for (;;) {
      head = graph_->value(at).producer;
      if (!head.valid()) return "no output head was found in front of the logits";
      const Node& node = graph_->node(head);
      if (node.op == "MatMul" || node.op == "MatMulNBits" || node.op == "BlockQuantizedMatMul") break;
      const auto varying = [&](ValueId v) { return v != kNoValue && !graph_->value(v).constant; };
      if (std::ranges::count_if(node.inputs, varying) != 1)
        return place_of(node) + " stands between the output head and the logits";
      at = *std::ranges::find_if(node.inputs, varying);
    }
    const ValueId hidden = graph_->node(head).inputs[0];
    logit_rows_ = graph_->add_input(graph_->unique_name("logit_rows"),
                                    {DType::i64, SymShape{Dim::symbol(PagedDecoder::kLogitRows)}});
    Node gather{.name = "logit_rows/Gather",
                .op = "Gather",
                .inputs = {hidden, logit_rows_},
                .attributes = {{"axis", int64_t{1}}}};
    const NodeId added = graph_->add_node(std::move(gather), {"logit_rows/hidden"}, head);
    graph_->node(head).inputs[0] = graph_->node(added).outputs[0];
    return {};
  }

  const Graph& original_;  // typed as exported; values keep their ids in the copy
  std::unique_ptr<Graph> graph_;
  DecoderPorts ports_;
  const std::string& where_;
  const int64_t context_length_;
  std::map<ValueId, MaskPattern> masks_;
  std::vector<KvHeads> layers_;
  ValueId logit_rows_;
};

}  // namespace

PagedRewrite rewrite_paged(const Graph& graph, const DecoderPorts& ports, const std::string& where,
                           int64_t context_length) {
  return Rewriter(graph, ports, where, context_length).run();
}

}  // namespace genai
