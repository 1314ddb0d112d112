#include "passes/support/match.h"

#include <cmath>

#include "base/half.h"

namespace nxrt::passes {
namespace {

template <class T>
std::vector<int64_t> widened(const Tensor& tensor) {
  const auto values = tensor.span<T>();
  return {values.begin(), values.end()};
}

}  // namespace

std::optional<double> scalar(const Rewriter& edit, ValueId id) {
  if (id == kNoValue || !edit.value(id).constant) return std::nullopt;
  const Tensor& tensor = *edit.value(id).constant;
  if (tensor.count() != 1) return std::nullopt;
  switch (tensor.dtype()) {
    case DType::f32: return tensor.data<float>()[0];
    case DType::f64: return tensor.data<double>()[0];
    case DType::i32: return tensor.data<int32_t>()[0];
    case DType::i64: return static_cast<double>(tensor.data<int64_t>()[0]);
    case DType::f16: return to_float(*static_cast<const Half*>(tensor.raw()));
    case DType::bf16: return to_float(*static_cast<const BFloat16*>(tensor.raw()));
    default: return std::nullopt;
  }
}

bool is_scalar(const Rewriter& edit, ValueId id, double expected) {
  const auto value = scalar(edit, id);
  if (!value) return false;
  // Half-precision graphs carry constants with 8 to 11 significant bits.
  const DType dtype = edit.value(id).constant->dtype();
  const double tolerance = dtype == DType::f16 ? 1e-3 : dtype == DType::bf16 ? 8e-3 : 1e-6;
  return std::abs(*value - expected) <= tolerance * std::max(1e-30, std::abs(expected));
}

bool same_type(const Rewriter& edit, ValueId a, ValueId b) {
  const TensorType& x = edit.value(a).type;
  const TensorType& y = edit.value(b).type;
  return x.dtype != DType::none && x.dtype == y.dtype && x.shape && y.shape && *x.shape == *y.shape;
}

bool is_onnx(const Node& node, std::string_view op) {
  return node.op == op && (node.domain.empty() || node.domain == "ai.onnx");
}

std::optional<ValueId> other_input(const Node& node, ValueId one) {
  if (node.inputs.size() != 2) return std::nullopt;
  if (node.inputs[0] == one) return node.inputs[1];
  if (node.inputs[1] == one) return node.inputs[0];
  return std::nullopt;
}

std::vector<ValueId> factors(const Rewriter& edit, const Node& root) {
  std::vector<ValueId> found, open = {root.inputs.rbegin(), root.inputs.rend()};
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    const Node* product = edit.producer(value, "Mul");
    if (product && edit.used_once(value)) {
      open.insert(open.end(), product->inputs.rbegin(), product->inputs.rend());
    } else {
      found.push_back(value);
    }
  }
  return found;
}

std::vector<int64_t> ints(const Node& node, const std::string& name, const std::vector<int64_t>& fallback) {
  const auto found = node.attributes.find(name);
  const auto* values = found == node.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
  return values ? *values : fallback;
}

int64_t integer(const Node& node, const std::string& name, int64_t fallback) {
  const auto found = node.attributes.find(name);
  const auto* value = found == node.attributes.end() ? nullptr : std::get_if<int64_t>(&found->second);
  return value ? *value : fallback;
}

std::string text(const Node& node, const std::string& name, const std::string& fallback) {
  const auto found = node.attributes.find(name);
  const auto* value = found == node.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return value ? *value : fallback;
}

std::optional<std::vector<int64_t>> integers(const Rewriter& edit, ValueId id) {
  if (id == kNoValue || !edit.value(id).constant) return std::nullopt;
  const Tensor& tensor = *edit.value(id).constant;
  if (tensor.dtype() == DType::i64) return widened<int64_t>(tensor);
  if (tensor.dtype() == DType::i32) return widened<int32_t>(tensor);
  return std::nullopt;
}

}  // namespace nxrt::passes
