#include "exec/shape_program.h"

#include <array>

namespace nxrt::exec {

int SymbolTable::add(const std::string& name) {
  const auto [at, fresh] = index_.try_emplace(name, size());
  if (fresh) names_.push_back(name);
  return at->second;
}

std::optional<int> SymbolTable::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<CompiledDim> CompiledDim::compile(const Dim& dim, const SymbolTable& symbols) {
  if (!dim.known()) return std::nullopt;
  CompiledDim compiled;
  for (const auto& [names, coefficient] : dim.terms()) {
    Term term{coefficient, {}};
    for (const std::string& name : names) {
      const auto index = symbols.find(name);
      if (!index) return std::nullopt;
      term.symbols.push_back(*index);
    }
    compiled.terms_.push_back(std::move(term));
  }
  return compiled;
}

std::optional<int64_t> CompiledDim::evaluate(std::span<const int64_t> symbols) const {
  int64_t total = 0;
  for (const Term& term : terms_) {
    int64_t product = term.coefficient;
    for (const int symbol : term.symbols) {
      if (__builtin_mul_overflow(product, symbols[static_cast<size_t>(symbol)], &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(total, product, &total)) return std::nullopt;
  }
  return total < 0 ? std::nullopt : std::optional(total);
}

void CompiledDim::append_symbols(std::vector<int>& into) const {
  for (const Term& term : terms_) into.insert(into.end(), term.symbols.begin(), term.symbols.end());
}

std::optional<CompiledShape> compile(const SymShape& shape, const SymbolTable& symbols) {
  CompiledShape compiled;
  for (const Dim& dim : shape.dims()) {
    auto one = CompiledDim::compile(dim, symbols);
    if (!one) return std::nullopt;
    compiled.push_back(*std::move(one));
  }
  return compiled;
}

std::optional<Shape> evaluate(const CompiledShape& shape, std::span<const int64_t> symbols) {
  if (shape.size() > static_cast<size_t>(Shape::kMaxRank)) return std::nullopt;
  std::array<int64_t, Shape::kMaxRank> dims{};
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto dim = shape[i].evaluate(symbols);
    if (!dim || (*dim > 0 && __builtin_mul_overflow(count, *dim, &count))) return std::nullopt;
    dims[i] = *dim;
  }
  return Shape(std::span<const int64_t>(dims.data(), shape.size()));
}

TensorType concrete(const TensorType& type, const SymbolTable& table, std::span<const int64_t> symbols) {
  const auto value = [&](const std::string& name) -> std::optional<Dim> {
    const auto index = table.find(name);
    return index ? std::optional<Dim>(symbols[static_cast<size_t>(*index)]) : std::nullopt;
  };
  TensorType result{type.dtype, {}, {}};
  if (type.shape) {
    std::vector<Dim> dims;
    for (const Dim& dim : type.shape->dims()) dims.push_back(dim.substitute(value));
    result.shape = SymShape(std::move(dims));
  }
  if (type.elements) {
    result.elements.emplace();
    for (const Dim& element : *type.elements) result.elements->push_back(element.substitute(value));
  }
  return result;
}

}  // namespace nxrt::exec
