#include "exec/input_binder.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"

namespace nxrt::exec {
namespace {

std::set<std::string> given_symbols(const Graph& graph) {
  std::set<std::string> names;
  for (const ValueId id : graph.inputs()) {
    const auto& shape = graph.value(id).type.shape;
    if (!shape) continue;
    for (const Dim& dim : shape->dims()) {
      if (const auto name = dim.as_symbol()) names.insert(*name);
    }
  }
  return names;
}

bool is_given(const Dim& dim, const std::set<std::string>& names) {
  if (!dim.known()) return false;
  for (const std::string& name : dim.symbols()) {
    if (!names.contains(name)) return false;
  }
  return true;
}

bool misaligned(const Tensor& tensor) {
  const auto size = static_cast<uintptr_t>(std::max(1, bits_of(tensor.dtype()) / 8));
  const uintptr_t alignment = std::min<uintptr_t>(size, 8);
  return tensor.count() > 0 && reinterpret_cast<uintptr_t>(tensor.raw()) % alignment != 0;
}

}  // namespace

void name_input_dims(Graph& graph) {
  const std::set<std::string> given = given_symbols(graph);
  for (const ValueId id : graph.inputs()) {
    Value& value = graph.value(id);
    if (!value.type.shape) continue;
    for (int axis = 0; axis < value.type.shape->rank(); ++axis) {
      Dim& dim = (*value.type.shape)[axis];
      if (!is_given(dim, given)) dim = Dim::symbol(fmt::format("{}.{}", value.name, axis));
    }
  }
}

InputBinder::InputBinder(const Graph& graph, std::string where) : where_(std::move(where)) {
  std::vector<bool> defined;
  for (const ValueId id : graph.inputs()) {
    if (!graph.value(id).type.shape) continue;
    for (const Dim& dim : graph.value(id).type.shape->dims()) {
      if (const auto name = dim.as_symbol()) symbols_.add(*name);
    }
  }
  defined.resize(static_cast<size_t>(symbols_.size()));
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    Input input{value.name, value.type, {}};
    for (int axis = 0; value.type.shape && axis < value.type.shape->rank(); ++axis) {
      const Dim& dim = (*value.type.shape)[axis];
      Axis one{CompiledDim::compile(dim, symbols_).value()};
      if (const auto name = dim.as_symbol()) {
        const int symbol = *symbols_.find(*name);
        if (!defined[static_cast<size_t>(symbol)]) one.defines = symbol;
        defined[static_cast<size_t>(symbol)] = true;
      }
      input.axes.push_back(std::move(one));
    }
    inputs_.push_back(std::move(input));
  }
}

void InputBinder::check(const Input& input, const Tensor& tensor) const {
  if (!tensor) refuse(input, "is missing");
  if (input.type.dtype != DType::none && tensor.dtype() != input.type.dtype) {
    refuse(input, fmt::format("is {}", name_of(tensor.dtype())));
  }
  if (!tensor.raw() && tensor.count() > 0) refuse(input, "has no data");
  if (misaligned(tensor)) refuse(input, "does not start at a multiple of its element size");
  if (input.type.shape && tensor.shape().rank() != input.type.shape->rank()) {
    refuse(input, fmt::format("has shape {}", tensor.shape().text()));
  }
}

void InputBinder::bind(std::span<const Tensor> inputs, std::span<int64_t> symbols) const {
  static const Tensor kMissing;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor& tensor = i < inputs.size() ? inputs[i] : kMissing;
    check(inputs_[i], tensor);
    for (size_t axis = 0; axis < inputs_[i].axes.size(); ++axis) {
      const int symbol = inputs_[i].axes[axis].defines;
      if (symbol >= 0) symbols[static_cast<size_t>(symbol)] = tensor.shape()[static_cast<int>(axis)];
    }
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (size_t axis = 0; axis < inputs_[i].axes.size(); ++axis) {
      const auto expected = inputs_[i].axes[axis].dim.evaluate(symbols);
      if (expected != inputs[i].shape()[static_cast<int>(axis)]) {
        refuse(inputs_[i], fmt::format("has shape {}", inputs[i].shape().text()), symbols);
      }
    }
  }
}

void InputBinder::refuse(const Input& input, const std::string& is, std::span<const int64_t> symbols) const {
  std::string what = fmt::format("input '{}' {}, expected {}", input.name, is, input.type.text());
  if (!symbols.empty() && input.type.shape) {
    std::set<std::string> named;
    for (const Dim& dim : input.type.shape->dims()) {
      for (const std::string& name : dim.symbols()) named.insert(name);
    }
    std::string values;
    for (const std::string& name : named) {
      values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", name,
                            symbols[static_cast<size_t>(*symbols_.find(name))]);
    }
    if (!values.empty()) what += fmt::format(" with {}", values);
  }
  throw Error(Code::invalid_argument, std::move(what), where_);
}

}  // namespace nxrt::exec
