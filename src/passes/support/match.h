// Small questions that patterns ask.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "passes/support/rewriter.h"

namespace nxrt::passes {

// The value of a float or integer constant with one element.
std::optional<double> scalar(const Rewriter& edit, ValueId id);
bool is_scalar(const Rewriter& edit, ValueId id, double expected);  // within float rounding

bool same_type(const Rewriter& edit, ValueId a, ValueId b);  // dtype and shape are known and equal
bool is_onnx(const Node& node, std::string_view op);

// Of a binary node with inputs (a, b): b when `one` is a, a when it is b.
std::optional<ValueId> other_input(const Node& node, ValueId one);

// The factors of a product: Mul nodes that serve nothing but `root` are followed, any other value is a factor.
std::vector<ValueId> factors(const Rewriter& edit, const Node& root);
// Removes one factor that `wanted` accepts and returns it.
template <class F>
std::optional<ValueId> take(std::vector<ValueId>& values, F&& wanted) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!wanted(values[i])) continue;
    const ValueId taken = values[i];
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(i));
    return taken;
  }
  return std::nullopt;
}

// An integer-list attribute; the fallback when it is missing.
std::vector<int64_t> ints(const Node& node, const std::string& name, const std::vector<int64_t>& fallback = {});
int64_t integer(const Node& node, const std::string& name, int64_t fallback);
std::string text(const Node& node, const std::string& name, const std::string& fallback);
// The integers of a constant i32 or i64 tensor; nullopt for anything else.
std::optional<std::vector<int64_t>> integers(const Rewriter& edit, ValueId id);

}  // namespace nxrt::passes
