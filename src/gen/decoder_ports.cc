#include "gen/decoder_ports.h"

#include <algorithm>
#include <initializer_list>

namespace genai {
using nxrt::Graph;
using nxrt::kNoValue;
using nxrt::ValueId;
namespace {

std::string names_of(const Graph& graph, const std::vector<ValueId>& ports) {
  std::string all;
  for (const ValueId port : ports) all += (all.empty() ? "" : ", ") + graph.value(port).name;
  return all.empty() ? "none" : all;
}

// "past_key_values.%d.key" with 3 → "past_key_values.3.key".
std::string with_layer(const std::string& pattern, int layer) {
  const size_t at = pattern.find("%d");
  return at == std::string::npos ? pattern : pattern.substr(0, at) + std::to_string(layer) + pattern.substr(at + 2);
}

class Finder {
 public:
  Finder(const Graph& graph, const std::string& where) : graph_(graph), where_(where) {}

  ValueId input(const std::string& name) const { return named(graph_.inputs(), name); }
  ValueId output(const std::string& name) const { return named(graph_.outputs(), name); }

  // The declared name, else the first well-known one that exists.
  ValueId role(const std::vector<ValueId>& ports, const std::string& what, const std::string& declared,
               std::initializer_list<const char*> known) const {
    if (!declared.empty()) {
      const ValueId port = named(ports, declared);
      if (port != kNoValue) return port;
      // Builders declare optional inputs (position_ids) that an optimized graph no longer has.
      if (what == "position_ids" || what == "attention_mask") return kNoValue;
      fail("the package declares " + what + " = '" + declared + "', the graph has: " + names_of(graph_, ports));
    }
    for (const char* name : known) {
      const ValueId port = named(ports, name);
      if (port != kNoValue) return port;
    }
    return kNoValue;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Code::invalid_argument, what, where_,
                "name the decoder's inputs and outputs in genai_config.json (model.decoder.inputs, .outputs)");
  }

  // The only port for which `fits` holds.
  template <class F>
  ValueId only(const std::vector<ValueId>& ports, F fits) const {
    ValueId found = kNoValue;
    for (const ValueId port : ports) {
      if (!fits(graph_.value(port).type)) continue;
      if (found != kNoValue) return kNoValue;
      found = port;
    }
    return found;
  }

 private:
  ValueId named(const std::vector<ValueId>& ports, const std::string& name) const {
    const auto port = std::ranges::find_if(ports, [&](ValueId id) { return graph_.value(id).name == name; });
    return port == ports.end() ? kNoValue : *port;
  }

  const Graph& graph_;
  const std::string& where_;
};

bool has_rank(const nxrt::TensorType& type, int rank) { return type.shape && type.shape->rank() == rank; }

struct CacheNames {
  std::string past_key, past_value, present_key, present_value;
};

// The layer patterns worth trying: the declared one alone, else the ones exporters use.
std::vector<CacheNames> cache_patterns(const DecoderRoles& declared) {
  if (!declared.past_key.empty()) {
    return {{declared.past_key, declared.past_value, declared.present_key, declared.present_value}};
  }
  return {{"past_key_values.%d.key", "past_key_values.%d.value", "present.%d.key", "present.%d.value"},
          {"past_key_values.%d.key", "past_key_values.%d.value", "present_key_values.%d.key",
           "present_key_values.%d.value"},
          {"past.%d.key", "past.%d.value", "present.%d.key", "present.%d.value"},
          {"past_key_%d", "past_value_%d", "present_key_%d", "present_value_%d"}};
}

std::vector<CachePorts> find_layers(const Finder& find, const DecoderRoles& declared) {
  std::string incomplete;
  for (const CacheNames& names : cache_patterns(declared)) {
    std::vector<CachePorts> layers;
    for (int layer = 0;; ++layer) {
      const CachePorts ports = {
          find.input(with_layer(names.past_key, layer)), find.input(with_layer(names.past_value, layer)),
          find.output(with_layer(names.present_key, layer)), find.output(with_layer(names.present_value, layer))};
      if (ports.past_key == kNoValue || names.past_key.find("%d") == std::string::npos) break;
      if (ports.past_value == kNoValue || ports.present_key == kNoValue || ports.present_value == kNoValue) {
        incomplete = "layer " + std::to_string(layer) + " has the cache input '" + with_layer(names.past_key, layer) +
                     "' but not all of its value, present key and present value";
        if (layer > 0) find.fail(incomplete);
        break;  // another spelling may fit
      }
      layers.push_back(ports);
    }
    if (!layers.empty()) return layers;
  }
  if (!incomplete.empty()) find.fail(incomplete);
  return {};
}

int64_t integer(const nxrt::Node& node, const std::string& name) {
  const auto attribute = node.attributes.find(name);
  const auto* value = attribute == node.attributes.end() ? nullptr : std::get_if<int64_t>(&attribute->second);
  return value ? *value : 0;
}

}  // namespace

std::optional<KvHeads> cache_heads(const Graph& graph, const CachePorts& cache) {
  const auto& shape = graph.value(cache.past_key).type.shape;
  if (!shape || shape->rank() != 4) return {};
  std::optional<int64_t> kv_heads = (*shape)[1].constant(), head_dim = (*shape)[3].constant();
  for (const nxrt::NodeId id : graph.users(cache.past_key)) {
    const nxrt::Node& node = graph.node(id);
    const int64_t heads = integer(node, "num_heads"), node_kv_heads = integer(node, "kv_num_heads");
    if (heads <= 0 || node_kv_heads <= 0) continue;
    if (!kv_heads) kv_heads = node_kv_heads;
    const auto& query = graph.value(node.inputs[0]).type.shape;
    if (head_dim || !query || query->rank() != 3 || !(*query)[2].constant()) continue;
    const bool packed = node.inputs.size() < 2 || node.inputs[1] == kNoValue;
    head_dim = *(*query)[2].constant() / (packed ? heads + 2 * node_kv_heads : heads);
  }
  if (!kv_heads || !head_dim || *kv_heads <= 0 || *head_dim <= 0) return {};
  return KvHeads{static_cast<int>(*kv_heads), static_cast<int>(*head_dim)};
}

DecoderPorts find_decoder_ports(const Graph& graph, const DecoderRoles& declared, const std::string& where) {
  const Finder find(graph, where);
  DecoderPorts ports;
  ports.input_ids = find.role(graph.inputs(), "input_ids", declared.input_ids, {"input_ids"});
  ports.attention_mask = find.role(graph.inputs(), "attention_mask", declared.attention_mask, {"attention_mask"});
  ports.position_ids = find.role(graph.inputs(), "position_ids", declared.position_ids, {"position_ids"});
  ports.logits = find.role(graph.outputs(), "logits", declared.logits, {"logits"});
  ports.layers = find_layers(find, declared);
  if (ports.input_ids == kNoValue) {
    ports.input_ids =
        find.only(graph.inputs(), [](const nxrt::TensorType& t) { return is_integer(t.dtype) && has_rank(t, 2); });
  }
  if (ports.logits == kNoValue) {
    ports.logits =
        find.only(graph.outputs(), [](const nxrt::TensorType& t) { return is_float(t.dtype) && has_rank(t, 3); });
  }
  if (ports.input_ids == kNoValue)
    find.fail("no input looks like token ids; the graph's inputs are: " + names_of(graph, graph.inputs()));
  if (ports.logits == kNoValue)
    find.fail("no output looks like logits; the graph's outputs are: " + names_of(graph, graph.outputs()));
  if (ports.layers.empty()) {
    find.fail("no past/present pairs were found; the graph's inputs are: " + names_of(graph, graph.inputs()));
  }
  return ports;
}

}  // namespace genai
