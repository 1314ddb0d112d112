#include "exec/shape_check.h"

#include <fmt/format.h>

namespace nxrt::exec {
namespace {

void append_symbols(const Dim& dim, const SymbolTable& table, std::set<int>& into) {
  for (const std::string& name : dim.symbols()) {
    if (const auto index = table.find(name)) into.insert(*index);
  }
}

std::set<int> symbols_of(const Graph& graph, const Node& node, const SymbolTable& table) {
  std::set<int> symbols;
  for (const ValueId input : node.inputs) {
    if (input == kNoValue) continue;
    const TensorType& type = graph.value(input).type;
    if (type.shape) {
      for (const Dim& dim : type.shape->dims()) append_symbols(dim, table, symbols);
    }
    if (type.elements) {
      for (const Dim& element : *type.elements) append_symbols(element, table, symbols);
    }
  }
  return symbols;
}

}  // namespace

ShapeCheck::ShapeCheck(const Graph& graph, const Plan& plan, std::string where)
    : graph_(graph), plan_(plan), where_(std::move(where)) {
  std::map<std::set<int>, std::vector<int>> steps;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.kind != StepKind::kernel && step.kind != StepKind::view) continue;  // the others are asked on every run
    steps[symbols_of(graph, graph.node(step.node), plan.binder.symbols())].push_back(static_cast<int>(s));
  }
  for (auto& [symbols, members] : steps) {
    if (!symbols.empty()) groups_.push_back({{symbols.begin(), symbols.end()}, std::move(members), {}});
  }
}

void ShapeCheck::check(std::span<const int64_t> symbols) {
  for (Group& group : groups_) {
    std::vector<int64_t> values;
    for (const int symbol : group.symbols) values.push_back(symbols[static_cast<size_t>(symbol)]);
    if (group.seen.contains(values)) continue;
    for (const int step : group.steps) check_step(plan_.steps[static_cast<size_t>(step)], symbols);
    if (group.seen.size() >= kMaxRemembered) group.seen.clear();
    group.seen.insert(std::move(values));
  }
}

void ShapeCheck::check_step(const Step& step, std::span<const int64_t> symbols) const {
  const Node& node = graph_.node(step.node);
  std::vector<TensorType> types;
  std::vector<const Tensor*> constants;
  for (const ValueId input : node.inputs) {
    const Value* value = input == kNoValue ? nullptr : &graph_.value(input);
    types.push_back(value ? concrete(value->type, plan_.binder.symbols(), symbols) : TensorType{});
    constants.push_back(value && value->constant ? &*value->constant : nullptr);
  }
  const ops::NodeView view(node, std::move(types), std::move(constants), where_);
  const std::vector<TensorType> inferred = step.op->infer(view);
  for (size_t i = 0; i < step.out.size(); ++i) {
    if (step.out[i] < 0 || i >= inferred.size() || !inferred[i].shape) continue;
    const auto shape = inferred[i].shape->constant();
    const auto planned = evaluate(plan_.slots[static_cast<size_t>(step.out[i])].shape, symbols);
    if (shape && planned && !(*shape == *planned)) {
      throw Error(Code::internal,
                  fmt::format("output {} has shape {}, but {} was planned", i, shape->text(), planned->text()),
                  view.at());
    }
  }
}

}  // namespace nxrt::exec
