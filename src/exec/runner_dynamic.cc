// Nodes whose shapes are known only while running: typed with their actual inputs, results in buffers of their own.
#include <fmt/format.h>

#include "exec/control_flow.h"
#include "exec/runner.h"
#include "passes/support/evaluate.h"

namespace nxrt::exec {

// Borrowed: valid while the step runs.
Tensor Runner::tensor_at(int slot) const {
  if (slot < 0) return {};
  const Place& at = place(slot);
  return Tensor::borrow(at.dtype, at.shape, at.data, nullptr);
}

// What was planned around a value holds what the file declares of it.
void Runner::expect_declared(const Step& step, int slot, DType dtype, const Shape& shape) const {
  const Value& value = graph_.value(plan_.slots[static_cast<size_t>(slot)].value);
  const TensorType actual{dtype, SymShape(shape), {}};
  bool agrees = value.type.dtype == DType::none || value.type.dtype == dtype;
  if (value.type.shape) {
    agrees = agrees && value.type.shape->rank() == shape.rank();
    for (int axis = 0; agrees && axis < shape.rank(); ++axis)
      agrees = !contradict((*value.type.shape)[axis], Dim(shape[axis]));
  }
  if (agrees) return;
  throw Error(Code::invalid_argument,
              fmt::format("value '{}' is {}, but {} was declared", value.name, actual.text(), value.type.text()),
              nxrt::place(where_, place_of(graph_.node(step.node))));
}

void* Runner::own_bytes(int slot, DType dtype, const Shape& shape) {
  Place& at = place(slot);
  const int64_t bytes = bytes_of(dtype, shape.count());
  if (bytes < 0) {
    throw Error(Code::out_of_capacity,
                fmt::format("value '{}' would have shape {}",
                            graph_.value(plan_.slots[static_cast<size_t>(slot)].value).name, shape.text()),
                where_);
  }
  if (!at.buffer || at.buffer.bytes() < bytes) at.buffer = Tensor::uninitialized(DType::u8, {bytes});
  at.data = at.buffer.raw_mutable();
  at.shape = shape;
  at.dtype = dtype;
  return at.data;
}

void Runner::own(const Step& step, int slot, Tensor tensor) {
  expect_declared(step, slot, tensor.dtype(), tensor.shape());
  Place& at = place(slot);
  at.data = tensor.raw_mutable();
  at.shape = tensor.shape();
  at.dtype = tensor.dtype();
  at.buffer = std::move(tensor);
}

void Runner::run_dynamic(const Step& step, Frame& frame) {
  const Node& node = graph_.node(step.node);
  std::vector<TensorType> types;
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < step.in.size(); ++i) {
    Tensor tensor = tensor_at(step.in[i]);
    const Value* value = step.in[i] < 0 ? nullptr : &graph_.value(node.inputs[i]);
    const bool has_bytes = !step.packed[i];
    types.push_back(has_bytes ? passes::type_of(tensor) : value->type);
    constants.push_back(value && value->constant ? &*value->constant : nullptr);
    frame.in[i] = {has_bytes ? tensor.raw_mutable() : nullptr, tensor.shape(), tensor.dtype()};
  }
  const ops::NodeView view(node, std::move(types), std::move(constants), where_);
  const passes::ConcreteTypes outputs = passes::concrete_outputs(view, *step.op, frame.args);
  for (size_t i = 0; i < step.out.size(); ++i) {
    if (step.out[i] < 0) continue;
    expect_declared(step, step.out[i], outputs.dtypes[i], outputs.shapes[i]);
    if (step.op->view) {
      Place& at = place(step.out[i]);
      at.data = place(step.in[0]).data;
      at.shape = outputs.shapes[i];
      at.dtype = outputs.dtypes[i];
      if (at.shape.count() != place(step.in[0]).shape.count()) view.fail("the number of elements changes");
      continue;
    }
    frame.out[i] = {own_bytes(step.out[i], outputs.dtypes[i], outputs.shapes[i]), outputs.shapes[i], outputs.dtypes[i]};
  }
  if (step.op->view) return;
  const int64_t bytes = step.kernel.workspace ? step.kernel.workspace(frame.args, workers_.width()) : 0;
  if (bytes > 0 && (!scratch_ || scratch_.bytes() < bytes)) scratch_ = Tensor::uninitialized(DType::u8, {bytes});
  frame.args.workspace_bytes = bytes > 0 ? static_cast<std::byte*>(scratch_.raw_mutable()) : nullptr;
  frame.args.paged = paged_;
  step.kernel.run(frame.args, workers_);
}

void Runner::run_deferred(const Step& step) {
  const Node& node = graph_.node(step.node);
  std::vector<Tensor> inputs;
  std::vector<bool> constant;
  for (const int slot : step.in) {
    inputs.push_back(tensor_at(slot));
    constant.push_back(slot >= 0 && plan_.slots[static_cast<size_t>(slot)].home == Home::constant);
  }
  auto results = *passes::evaluate(node, *step.op, inputs, constant,
                                   {.cpu = cpu_, .workers = workers_, .where = where_, .paged = paged_});
  for (size_t i = 0; i < step.out.size() && i < results.size(); ++i) {
    if (step.out[i] < 0) continue;
    // A view's bytes are its input's, which may be reused before the view dies.
    own(step, step.out[i], step.op->view ? results[i].clone() : std::move(results[i]));
  }
}

void Runner::run_control(const Step& step) {
  std::vector<Tensor> inputs;
  for (const int slot : step.in) inputs.push_back(tensor_at(slot));
  std::vector<Tensor> results = step.control->run(inputs);
  for (size_t i = 0; i < step.out.size(); ++i) {
    if (step.out[i] < 0) continue;
    if (i >= results.size() || !results[i]) {
      throw Error(Code::corrupt, fmt::format("output {} has no value", i),
                  nxrt::place(where_, place_of(graph_.node(step.node))));
    }
    // A state that no iteration replaced is still the node's input, whose bytes may be reused.
    own(step, step.out[i], results[i].owner() ? std::move(results[i]) : results[i].clone());
  }
}

}  // namespace nxrt::exec
