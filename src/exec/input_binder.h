// What the inputs of a run must be, and the symbols their shapes give values to.
//
// Errors: Error{invalid_argument} naming the input, what it is and what was expected.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "exec/shape_program.h"
#include "graph/graph.h"

namespace nxrt::exec {

// Names every unknown dim of the inputs ("x.1"), so that what depends on it can be planned; polynomials over symbols
// that no input gives alone are named the same way.
void name_input_dims(Graph& graph);

class InputBinder {
 public:
  InputBinder() = default;
  InputBinder(const Graph& graph, std::string where);

  const SymbolTable& symbols() const { return symbols_; }
  // Checks the tensors, one per graph input in order, and writes the symbols' values. Allocates nothing when all is
  // well.
  void bind(std::span<const Tensor> inputs, std::span<int64_t> symbols) const;

 private:
  struct Axis {
    CompiledDim dim;
    int defines = -1;  // a symbol that this axis gives its value
  };
  struct Input {
    std::string name;
    TensorType type;
    std::vector<Axis> axes;
  };
  void check(const Input& input, const Tensor& tensor) const;
  [[noreturn]] void refuse(const Input& input, const std::string& is, std::span<const int64_t> symbols = {}) const;

  std::string where_;
  SymbolTable symbols_;
  std::vector<Input> inputs_;
};

}  // namespace nxrt::exec
