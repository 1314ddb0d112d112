#include "gen/kv_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace genai {
namespace {

bool is_narrow_float(nxrt::DType type) {
  return nxrt::is_float(type) && type != nxrt::DType::f32 && type != nxrt::DType::f64;
}

// Whether `node` computes with the constant `value` as with a matrix narrower than float32. Bytes that become no number
// are a mask.
bool reads_narrow_weight(const nxrt::Graph& graph, const nxrt::Node& node, const nxrt::Value& value) {
  if (!value.constant || value.constant->shape().rank() < 2) return false;
  const nxrt::DType type = value.constant->dtype();
  if (is_narrow_float(type)) return true;
  if (nxrt::bits_of(type) > 8 || type == nxrt::DType::boolean || type == nxrt::DType::string) return false;
  return std::ranges::any_of(node.outputs, [&](nxrt::ValueId id) {
    if (id == nxrt::kNoValue) return false;
    const nxrt::DType made = graph.value(id).type.dtype;
    return nxrt::is_float(made) || made == nxrt::DType::i32;
  });
}

}  // namespace

std::optional<nxrt::DType> kv_type_named(std::string_view name) {
  if (name == "auto") return std::nullopt;
  if (name == "f32") return nxrt::DType::f32;
  if (name == "f16") return nxrt::DType::f16;
  throw nxrt::Error(nxrt::Code::invalid_argument,
                    fmt::format("the KV cache type is '{}', expected auto, f32 or f16", name));
}

nxrt::DType kv_type_for(const nxrt::Graph& graph) {
  for (const nxrt::NodeId id : graph.order()) {
    const nxrt::Node& node = graph.node(id);
    for (const nxrt::ValueId input : node.inputs) {
      if (input != nxrt::kNoValue && reads_narrow_weight(graph, node, graph.value(input))) return nxrt::DType::f16;
    }
  }
  return nxrt::DType::f32;
}

}  // namespace genai
