#include "gen/written_out_attention.h"

#include <algorithm>

namespace genai {
using nxrt::Dim;
using nxrt::Graph;
using nxrt::kNoValue;
using nxrt::Node;
using nxrt::NodeId;
using nxrt::SymShape;
using nxrt::ValueId;
namespace {

class Matcher {
 public:
  Matcher(const Graph& graph, const CachePorts& cache) : graph_(graph), cache_(cache) {}

  WrittenOutMatch run() {
    if (!match()) return {{}, reason_};
    return {found_, {}};
  }

 private:
  bool match() {
    const auto keys = joined(cache_.past_key, cache_.present_key, found_.key);
    const auto values = joined(cache_.past_value, cache_.present_value, found_.value);
    if (!keys || !values) return false;
    const auto scores = follow_keys(*keys);
    if (!scores) return false;
    found_.query = without_factors(graph_.node(*scores).inputs[0]);
    const auto softmax = follow_scores(graph_.node(*scores).outputs[0]);
    if (!softmax) return false;
    const auto weighted = only_user(skip_casts(without_guard(skip_casts(graph_.node(*softmax).outputs[0]))));
    if (!weighted || graph_.node(*weighted).op != "MatMul") return stop(*softmax, "does not weigh the values");
    if (follow_values(*values) != weighted) return stop(*weighted, "does not weigh this layer's values");
    found_.last = *weighted;
    found_.output = graph_.node(*weighted).outputs[0];
    return sizes(*weighted);
  }

  bool stop(NodeId node, const std::string& why) {
    if (reason_.empty()) reason_ = place_of(graph_.node(node)) + " " + why;
    return false;
  }

  const SymShape* shape(ValueId value) const {
    const auto& known = graph_.value(value).type.shape;
    return known ? &*known : nullptr;
  }
  bool one_element(ValueId value) const {
    const SymShape* known = shape(value);
    return known && known->count() == Dim(1);
  }

  // The node that reads `value` for its elements; none when several do.
  std::optional<NodeId> only_user(ValueId value) const {
    std::optional<NodeId> found;
    for (const NodeId id : graph_.users(value)) {
      if (graph_.node(id).op == "Shape") continue;
      if (found) return {};
      found = id;
    }
    return found;
  }

  // Exporters leave a Concat of one tensor where a cache that began empty was extended.
  static bool copies(const Node& node) {
    return node.domain.empty() && (node.op == "Identity" || (node.op == "Concat" && node.inputs.size() == 1));
  }

  // Concat(past, fresh) along the tokens, which is the present.
  std::optional<ValueId> joined(ValueId past, ValueId present, ValueId& fresh) {
    ValueId from = past;
    auto id = only_user(from);
    while (id && copies(graph_.node(*id))) {
      from = graph_.node(*id).outputs[0];
      id = only_user(from);
    }
    if (!id) {
      reason_ = "the input '" + graph_.value(past).name + "' is read by several nodes, expected one attention";
      return {};
    }
    const Node& node = graph_.node(*id);
    const auto axis = node.attributes.find("axis");
    const auto* along = axis == node.attributes.end() ? nullptr : std::get_if<int64_t>(&axis->second);
    const bool joins = node.op == "Concat" && node.domain.empty() && node.inputs.size() == 2 && node.inputs[0] == from;
    if (!joins || !along || (*along != 2 && *along != -2) || node.outputs[0] != present) {
      stop(*id, "reads the cache in a way that is not recognised");
      return {};
    }
    fresh = node.inputs[1];
    return node.outputs[0];
  }

  // The same elements for each query head of the group: [B, KV, L, D] → [B, KV, 1, L, D] → [B, KV, G, L, D] →
  // [B, H, L, D].
  std::optional<NodeId> after_repeat(ValueId cached, NodeId unsqueeze) {
    const auto expand = only_user(graph_.node(unsqueeze).outputs[0]);
    const auto reshape = expand ? only_user(graph_.node(*expand).outputs[0]) : std::nullopt;
    if (!reshape || graph_.node(*expand).op != "Expand" || graph_.node(*reshape).op != "Reshape") return {};
    const SymShape *from = shape(cached), *one = shape(graph_.node(unsqueeze).outputs[0]),
                   *each = shape(graph_.node(*expand).outputs[0]), *to = shape(graph_.node(*reshape).outputs[0]);
    if (!from || !one || !each || !to || one->rank() != 5 || each->rank() != 5 || to->rank() != 4) return {};
    const bool grouped = (*one)[2] == Dim(1) && (*one)[1] == (*from)[1] && (*each)[1] == (*from)[1] &&
                         (*to)[1] == (*each)[1] * (*each)[2] && (*to)[3] == (*from)[3];
    if (!grouped) return {};
    repeated_ = graph_.node(*reshape).outputs[0];
    return only_user(repeated_);
  }

  // Where the (repeated) cache is read next.
  std::optional<NodeId> reader_of(ValueId cached) {
    repeated_ = cached;
    const auto user = only_user(cached);
    if (user && graph_.node(*user).op == "Unsqueeze") return after_repeat(cached, *user);
    return user;
  }

  // keys → Transpose of the last two axes → the product with the queries; factors may stand between.
  std::optional<NodeId> follow_keys(ValueId keys) {
    auto user = reader_of(keys);
    bool transposed = false;
    ValueId at = repeated_;
    while (user) {
      const Node& node = graph_.node(*user);
      if (node.op == "Transpose" && !transposed) {
        const auto perm = node.attributes.find("perm");
        const auto* order = perm == node.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&perm->second);
        if (!order || *order != std::vector<int64_t>{0, 1, 3, 2}) break;
        transposed = true;
      } else if (node.op == "MatMul" && transposed && node.inputs[1] == at) {
        return user;
      } else if (!take_factor(node, at)) {
        break;
      }
      at = node.outputs[0];
      user = only_user(at);
    }
    const NodeId reader = user ? *user : graph_.value(at).producer;
    stop(reader, "does not multiply queries and keys in a way that is recognised");
    return {};
  }

  std::optional<NodeId> follow_values(ValueId values) {
    const auto user = reader_of(values);
    const bool right = user && graph_.node(*user).inputs.size() == 2 && graph_.node(*user).inputs[1] == repeated_;
    return right ? user : std::nullopt;
  }

  // Mul or Div of `at` by one element.
  bool take_factor(const Node& node, ValueId at) {
    if (!node.domain.empty() || (node.op != "Mul" && node.op != "Div")) return false;
    const bool left = node.inputs[0] == at;
    const ValueId other = node.inputs[left ? 1 : 0];
    if (!one_element(other) || (node.op == "Div" && !left)) return false;
    (node.op == "Mul" ? found_.factors : found_.divisors).push_back(other);
    return true;
  }

  ValueId without_factors(ValueId at) {
    for (;;) {
      const NodeId maker = graph_.value(at).producer;
      if (!maker.valid()) return at;
      const Node& node = graph_.node(maker);
      if ((node.op != "Mul" && node.op != "Div") || node.inputs.size() != 2) return at;
      const ValueId before = one_element(node.inputs[1]) ? node.inputs[0] : node.inputs[1];
      if (!take_factor(node, before)) return at;
      at = before;
    }
  }

  // Where(IsNaN(p), 0, p): rows that see nothing, which a causal mask doesn't have.
  ValueId without_guard(ValueId at) const {
    const std::vector<NodeId> users = graph_.users(at);
    if (users.size() != 2 || graph_.node(users[0]).op != "IsNaN" || graph_.node(users[1]).op != "Where") return at;
    const Node& choice = graph_.node(users[1]);
    const bool guards = choice.inputs[0] == graph_.node(users[0]).outputs[0] && choice.inputs[2] == at;
    return guards ? choice.outputs[0] : at;
  }

  ValueId skip_casts(ValueId at) const {
    for (auto user = only_user(at); user && graph_.node(*user).op == "Cast"; user = only_user(at)) {
      at = graph_.node(*user).outputs[0];
    }
    return at;
  }

  // scores → factors, mask, casts → Softmax over the tokens.
  std::optional<NodeId> follow_scores(ValueId scores) {
    ValueId at = skip_casts(scores);
    auto user = only_user(at);
    while (user) {
      const Node& node = graph_.node(*user);
      if (node.op == "Softmax") break;
      if (node.op == "Add" && found_.mask == kNoValue) {
        found_.mask = node.inputs[node.inputs[0] == at ? 1 : 0];
      } else if (found_.mask != kNoValue || !take_factor(node, at)) {
        break;
      }
      at = skip_casts(node.outputs[0]);
      user = only_user(at);
    }
    if (!user) {
      stop(graph_.value(at).producer, "is read in a way that is not recognised");
      return {};
    }
    const Node& node = graph_.node(*user);
    const auto axis = node.attributes.find("axis");
    const auto* along = axis == node.attributes.end() ? nullptr : std::get_if<int64_t>(&axis->second);
    if (node.op == "Softmax" && (along ? *along == -1 || *along == 3 : node.opset >= 13)) return user;
    stop(*user, "stands between the scores and their Softmax");
    return {};
  }

  bool sizes(NodeId weighted) {
    const SymShape *query = shape(found_.query), *key = shape(found_.key), *value = shape(found_.value);
    if (!query || !key || !value || query->rank() != 4 || key->rank() != 4 || value->rank() != 4)
      return stop(weighted, "has queries, keys or values of unknown shape");
    const auto heads = (*query)[1].constant(), kv_heads = (*key)[1].constant(), dim = (*query)[3].constant();
    const bool agree = heads && kv_heads && dim && *kv_heads > 0 && *heads % *kv_heads == 0 && (*key)[3] == Dim(*dim) &&
                       (*value)[1] == (*key)[1] && (*value)[3] == Dim(*dim);
    if (!agree) return stop(weighted, "has queries, keys or values of unknown or different head sizes");
    found_.heads = static_cast<int>(*heads);
    found_.kv_heads = static_cast<int>(*kv_heads);
    found_.head_dim = static_cast<int>(*dim);
    return true;
  }

  const Graph& graph_;
  const CachePorts& cache_;
  WrittenOutAttention found_;
  ValueId repeated_;
  std::string reason_;
};

}  // namespace

WrittenOutMatch match_written_out_attention(const Graph& graph, const CachePorts& cache) {
  return Matcher(graph, cache).run();
}

}  // namespace genai
