#include "gen/rotary_reach.h"

#include <algorithm>
#include <string_view>

namespace genai {
namespace {

struct TableUser {
  std::string_view op;
  size_t cos_input;
};
constexpr TableUser kTableUsers[] = {{"GroupQueryAttention", 7}, {"RotaryEmbedding", 2}};  // of com.microsoft

std::optional<int64_t> rows_of(const nxrt::Value& table) {
  if (table.constant)
    return table.constant->shape().rank() == 2 ? std::optional(table.constant->shape()[0]) : std::nullopt;
  if (!table.type.shape || table.type.shape->rank() != 2) return std::nullopt;
  return (*table.type.shape)[0].constant();
}

}  // namespace

std::optional<int64_t> rotary_reach(const nxrt::Graph& graph) {
  std::optional<int64_t> reach;
  for (const nxrt::NodeId id : graph.order()) {
    const nxrt::Node& node = graph.node(id);
    const auto* user = std::ranges::find(kTableUsers, node.op, &TableUser::op);
    if (node.domain != "com.microsoft" || user == std::end(kTableUsers)) continue;
    if (node.inputs.size() <= user->cos_input || node.inputs[user->cos_input] == nxrt::kNoValue) continue;
    const std::optional<int64_t> rows = rows_of(graph.value(node.inputs[user->cos_input]));
    if (rows) reach = std::min(reach.value_or(*rows), *rows);
  }
  return reach;
}

}  // namespace genai
