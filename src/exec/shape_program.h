// Shapes as programs: every dim compiled once into a polynomial over numbered symbols, evaluated when the symbols
// change.
//
// Errors: evaluate answers nullopt for a negative dim or an overflow; nothing throws.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/shape.h"
#include "graph/tensor_type.h"

namespace nxrt::exec {

// The symbols that a run's inputs give values to.
class SymbolTable {
 public:
  int add(const std::string& name);
  std::optional<int> find(const std::string& name) const;
  const std::string& name(int index) const { return names_[static_cast<size_t>(index)]; }
  int size() const { return static_cast<int>(names_.size()); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> index_;
};

class CompiledDim {
 public:
  // Nullopt when the dim is unknown or has a symbol that no input gives.
  static std::optional<CompiledDim> compile(const Dim& dim, const SymbolTable& symbols);
  std::optional<int64_t> evaluate(std::span<const int64_t> symbols) const;
  void append_symbols(std::vector<int>& into) const;

 private:
  struct Term {
    int64_t coefficient;
    std::vector<int> symbols;
  };
  std::vector<Term> terms_;
};

using CompiledShape = std::vector<CompiledDim>;
std::optional<CompiledShape> compile(const SymShape& shape, const SymbolTable& symbols);
std::optional<Shape> evaluate(const CompiledShape& shape, std::span<const int64_t> symbols);

// The same type with every symbol replaced by its value.
TensorType concrete(const TensorType& type, const SymbolTable& table, std::span<const int64_t> symbols);

}  // namespace nxrt::exec
