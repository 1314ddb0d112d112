#include "passes/support/evaluate.h"

#include <fmt/format.h>

#include "ops/support/elements.h"

namespace nxrt::passes {
namespace {

std::vector<ops::Args::Slot> slots_of(std::vector<Tensor>& tensors) {
  std::vector<ops::Args::Slot> slots;
  for (Tensor& tensor : tensors) slots.push_back({tensor.raw_mutable(), tensor.shape(), tensor.dtype()});
  return slots;
}

int64_t total_bytes(const ConcreteTypes& types) {
  int64_t total = 0;
  for (size_t i = 0; i < types.dtypes.size(); ++i) {
    const int64_t bytes = bytes_of(types.dtypes[i], types.shapes[i].count());
    if (bytes < 0 || __builtin_add_overflow(total, bytes, &total)) return INT64_MAX;
  }
  return total;
}

void run(ops::Kernel& kernel, ops::Args& args, const Evaluator& with) {
  Tensor scratch;
  if (kernel.workspace) {
    const int64_t bytes = kernel.workspace(args, with.workers.width());
    scratch = Tensor::uninitialized(DType::u8, {bytes});
    args.workspace_bytes = static_cast<std::byte*>(scratch.raw_mutable());
  }
  args.paged = with.paged;
  kernel.run(args, with.workers);
}

}  // namespace

TensorType type_of(const Tensor& tensor) {
  TensorType type{tensor.dtype(), SymShape(tensor.shape()), {}};
  if (tensor.dtype() != DType::none) type.elements = ops::elements_of(tensor);
  return type;
}

ConcreteTypes concrete_outputs(const ops::NodeView& view, const ops::OpDef& op, const ops::Args& args) {
  const std::vector<TensorType> inferred = op.infer(view);
  ConcreteTypes types;
  std::vector<Shape> resolved;
  for (int i = 0; i < view.outputs(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (!view.has_output(i) || at >= inferred.size()) {
      types.dtypes.push_back(DType::none);
      types.shapes.emplace_back();
      continue;
    }
    auto shape = inferred[at].shape ? inferred[at].shape->constant() : std::nullopt;
    if (!shape && op.resolve) {
      if (resolved.empty()) resolved = op.resolve(view, args);
      if (at < resolved.size()) shape = resolved[at];
    }
    if (!shape) view.unsupported(fmt::format("the shape of output {} is not known even while running", i));
    types.dtypes.push_back(inferred[at].dtype);
    types.shapes.push_back(*shape);
  }
  return types;
}

std::optional<std::vector<Tensor>> evaluate(const Node& node, const ops::OpDef& op, const std::vector<Tensor>& inputs,
                                            const std::vector<bool>& constant, const Evaluator& with) {
  std::vector<TensorType> input_types;
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < inputs.size(); ++i) {
    input_types.push_back(type_of(inputs[i]));
    constants.push_back(constant[i] && inputs[i] ? &inputs[i] : nullptr);
  }
  const ops::NodeView view(node, std::move(input_types), std::move(constants), with.where);
  std::vector<Tensor> sources = inputs;
  std::vector<ops::Args::Slot> in = slots_of(sources);
  ops::Args args;
  args.in_slots = in;
  const ConcreteTypes types = concrete_outputs(view, op, args);
  if (total_bytes(types) > with.max_bytes) return std::nullopt;
  if (op.view) return std::vector<Tensor>{inputs.front().reshaped(types.shapes.front())};

  std::vector<Tensor> outputs;
  for (size_t i = 0; i < types.dtypes.size(); ++i) {
    outputs.push_back(types.dtypes[i] == DType::none ? Tensor{}
                                                     : Tensor::uninitialized(types.dtypes[i], types.shapes[i]));
  }
  ops::Prepare prepare{with.cpu, with.workers};
  ops::Kernel kernel = op.prepare(view, prepare);
  for (const int packed : kernel.packed_inputs) in[static_cast<size_t>(packed)].data = nullptr;
  std::vector<ops::Args::Slot> out = slots_of(outputs);
  args.out_slots = out;
  run(kernel, args, with);
  return outputs;
}

}  // namespace nxrt::passes
