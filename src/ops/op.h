// What an operator is: its name and version, how it types its outputs, how it prepares a kernel.
//
// An op's file `foo_bar.cc` defines `std::span<const OpDef> foo_bar()`: one row per operator of the family and version.
// CMake globs src/ops/*.cc into a generated explicit table and fails when an op has no tests/ops/foo_bar_test.cc. Files
// that are not ops live in src/ops/support/.
//
// Threads: OpDefs are immutable. infer and prepare run on the loading thread; a prepared kernel may run on one thread
// at
//          a time per plan and shards over `Workers` itself.
// Errors:  infer and prepare throw Error; `at` is the node's place. A kernel's run never throws.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/shape.h"
#include "base/tensor.h"
#include "base/workers.h"
#include "graph/graph.h"
#include "kernels/kernels.h"

namespace nxrt {

struct PagedStep;  // ops/paged_step.h

namespace ops {

// A node with its inputs' types: what infer and prepare may ask.
class NodeView {
 public:
  NodeView(const Node& node, std::vector<TensorType> inputs, std::vector<const Tensor*> constants, std::string where);

  const Node& node() const { return node_; }
  const std::string& at() const { return at_; }  // "model.onnx > node 'x' (Op)"
  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(node_.outputs.size()); }
  bool has_input(int i) const;  // present and not omitted
  bool has_output(int i) const;
  const TensorType& input(int i) const;  // throws when omitted
  const Tensor* constant(int i) const;   // null when omitted or not constant
  int rank(int i) const;                 // throws when unknown
  bool has_shape(int i) const;
  const SymShape& shape(int i) const;  // throws when unknown
  // The integer elements of input i when they are known (constant or propagated), of any integer type.
  std::optional<std::vector<Dim>> elements(int i) const;
  std::optional<std::vector<int64_t>> integers(int i) const;  // the same, when all are constants

  // Attributes. With a default: optional; without: required. A wrong type throws naming the attribute.
  bool has(std::string_view name) const;
  int64_t i64(std::string_view name, std::optional<int64_t> fallback = {}) const;
  float f32(std::string_view name, std::optional<float> fallback = {}) const;
  std::string str(std::string_view name, std::optional<std::string> fallback = {}) const;
  std::vector<int64_t> ints(std::string_view name, std::optional<std::vector<int64_t>> fallback = {}) const;
  std::vector<float> floats(std::string_view name, std::optional<std::vector<float>> fallback = {}) const;
  const Tensor* tensor(std::string_view name) const;
  int axis(std::string_view name, int64_t fallback, int rank) const;  // normalised to [0, rank)
  int axis_of(int64_t axis, int rank) const;                          // the same for a given number

  // Checks that throw Error{invalid_argument}: "input 1 has shape [7], expected [8]".
  void expect_inputs(int at_least, int at_most) const;
  void expect_dtype(int i, DType dtype) const;
  void expect_dtype(int i, std::initializer_list<DType> any_of) const;
  void expect_same_dtype(int i, int j) const;
  void expect_rank(int i, int rank) const;
  void expect_shape(int i, const SymShape& shape) const;                 // unknown dims agree with anything
  [[noreturn]] void fail(std::string what, std::string fix = {}) const;  // invalid_argument
  [[noreturn]] void unsupported(std::string what, std::string fix = {}) const;

 private:
  const Node& node_;
  std::vector<TensorType> inputs_;
  std::vector<const Tensor*> constants_;
  std::string at_;
};

// One input or output of a running kernel. Converts to a pointer of the type asked for; no check in release builds.
struct ArgPointer {
  void* p;
  template <class T>
  operator const T*() const {
    return static_cast<const T*>(p);
  }
  template <class T>
  operator T*() const {
    return static_cast<T*>(p);
  }
};

// What a kernel sees while it runs. Shapes are concrete; outputs are allocated.
class Args {
 public:
  struct Slot {
    void* data = nullptr;
    Shape shape;
    DType dtype = DType::none;  // none: omitted
  };
  std::span<Slot> in_slots, out_slots;
  std::byte* workspace_bytes = nullptr;  // 64-byte aligned, as large as Kernel::workspace answered
  const PagedStep* paged = nullptr;      // the step's batch descriptor, for nxrt.PagedAttention
  int node_index = 0;

  bool has(int i) const {
    return i < static_cast<int>(in_slots.size()) && in_slots[static_cast<size_t>(i)].dtype != DType::none;
  }
  bool has_out(int i) const {
    return i < static_cast<int>(out_slots.size()) && out_slots[static_cast<size_t>(i)].dtype != DType::none;
  }
  const Shape& shape(int i) const { return in_slots[static_cast<size_t>(i)].shape; }
  const Shape& out_shape(int i) const { return out_slots[static_cast<size_t>(i)].shape; }
  DType dtype(int i) const { return in_slots[static_cast<size_t>(i)].dtype; }
  DType out_dtype(int i) const { return out_slots[static_cast<size_t>(i)].dtype; }
  ArgPointer in(int i) const { return {has(i) ? in_slots[static_cast<size_t>(i)].data : nullptr}; }
  ArgPointer out(int i) const { return {has_out(i) ? out_slots[static_cast<size_t>(i)].data : nullptr}; }
  ArgPointer workspace(int64_t byte_offset = 0) const { return {workspace_bytes + byte_offset}; }
};

// A prepared node.
struct Kernel {
  std::function<void(const Args& args, Workers& workers)> run;
  // Bytes of scratch for these shapes (only shapes and dtypes of `args` may be read); null: none.
  std::function<int64_t(const Args& args, int width)> workspace;
  int in_place = -1;  // input whose bytes output 0 may overwrite when that input dies here (same dtype and shape)
  std::vector<int>
      packed_inputs;         // constant inputs copied at prepare: run gets null for them, their pages may be dropped
  int64_t packed_bytes = 0;  // resident bytes this kernel owns

  Kernel() = default;
  template <class F>
    requires std::is_invocable_v<F, const Args&, Workers&>
  Kernel(F f) : run(std::move(f)) {}  // NOLINT: an op returns its lambda
};

struct Prepare {
  const Kernels& cpu;
  Workers& workers;  // for packing in parallel
};

struct OpDef {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  int since = 1;  // first opset of `domain` with this meaning; the highest one <= the node's opset is taken
  std::vector<TensorType> (*infer)(const NodeView& node) = nullptr;
  // `prepare` may be null for a view.
  Kernel (*prepare)(const NodeView& node, Prepare& with) = nullptr;
  bool view = false;  // output 0 is input 0's bytes under another shape; nothing runs
  // For outputs whose shape depends on the data (NonZero, Compress…): concrete shapes from the inputs at run time.
  std::vector<Shape> (*resolve)(const NodeView& node, const Args& args) = nullptr;
  // May constant folding and common-subexpression elimination treat it as a pure function? (random ops may not)
  bool pure = true;
};

// Null when there is none. `opset` is the model's version of the domain.
const OpDef* find_op(std::string_view domain, std::string_view name, int opset);
std::span<const OpDef* const> all_ops();

// Helpers shared by many ops.
SymShape broadcast(const NodeView& node, const SymShape& a, const SymShape& b);  // symbolic numpy broadcast

}  // namespace ops
}  // namespace nxrt
