#include "exec/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/plan.h"
#include "exec/session.h"
#include "passes/support/control_flow.h"

namespace nxrt::exec {
namespace {

bool is_true(const Tensor& condition, const std::string& at) {
  if (condition.dtype() == DType::boolean && condition.count() == 1)
    return *static_cast<const uint8_t*>(condition.raw()) != 0;
  throw Error(
      Code::invalid_argument,
      fmt::format("the condition is {}{}, expected one bool", name_of(condition.dtype()), condition.shape().text()),
      at);
}

// A subgraph as a session whose last inputs are what it captures.
class Body {
 public:
  Body(const Graph& outer, const Node& node, const std::string& attribute, const PlanContext& context,
       std::vector<ValueId>& captures) {
    const std::string at = place(context.where, place_of(node) + " " + attribute);
    std::unique_ptr<Graph> graph = passes::subgraph(node, attribute, context.where)->clone();
    own_inputs_ = graph->inputs().size();
    for (const Graph::Capture& capture : graph->captures()) {
      const Value& source = outer.value(capture.outer);
      Value& inner = graph->value(capture.inner);
      inner.type = source.type;
      inner.type.elements.reset();  // over symbols that only the surroundings know
      if (source.constant) {
        inner.constant = source.constant;
        continue;
      }
      graph->inputs().push_back(capture.inner);
      captured_.push_back(index_in(captures, capture.outer));
    }
    graph->captures().clear();
    session_ = Session::prepare(std::move(graph), at, context.workers, context.options);
  }

  std::vector<Tensor> run(std::span<const Tensor> own, std::span<const Tensor> captures) {
    for (size_t i = 0; i < own_inputs_; ++i) binding_.input(static_cast<int>(i), own[i]);
    for (size_t i = 0; i < captured_.size(); ++i) {
      binding_.input(static_cast<int>(own_inputs_ + i), captures[captured_[i]]);
    }
    session_->run(binding_);
    std::vector<Tensor> results;
    for (size_t i = 0; i < session_->outputs().size(); ++i)
      results.push_back(session_->result(static_cast<int>(i)).clone());
    return results;
  }

  size_t inputs() const { return own_inputs_; }

 private:
  static size_t index_in(std::vector<ValueId>& captures, ValueId value) {
    const auto found = std::find(captures.begin(), captures.end(), value);
    const auto index = static_cast<size_t>(found - captures.begin());
    if (found == captures.end()) captures.push_back(value);
    return index;
  }

  std::unique_ptr<Session> session_;
  Binding binding_;
  size_t own_inputs_ = 0;
  std::vector<size_t> captured_;
};

// Results of equal shape, stacked along a new first axis.
Tensor stack(const std::vector<Tensor>& slices, const std::string& at) {
  if (slices.empty()) return {};
  std::vector<int64_t> dims = {static_cast<int64_t>(slices.size())};
  const auto inner = slices.front().shape().dims();
  dims.insert(dims.end(), inner.begin(), inner.end());
  Tensor all = Tensor::uninitialized(slices.front().dtype(), Shape(dims));
  auto* to = static_cast<std::byte*>(all.raw_mutable());
  for (const Tensor& slice : slices) {
    if (!(slice.shape() == slices.front().shape())) {
      throw Error(Code::invalid_argument,
                  fmt::format("iterations give shapes {} and {}, expected equal ones", slices.front().shape().text(),
                              slice.shape().text()),
                  at);
    }
    if (slice.bytes() > 0) std::memcpy(to, slice.raw(), static_cast<size_t>(slice.bytes()));
    to += slice.bytes();
  }
  return all;
}

// What a scan output is when nothing was iterated: no rows of the declared type.
Tensor no_rows(const TensorType& declared) {
  std::vector<int64_t> dims;
  for (int axis = 0; declared.shape && axis < declared.shape->rank(); ++axis) {
    dims.push_back(axis == 0 ? 0 : (*declared.shape)[axis].constant().value_or(0));
  }
  if (dims.empty()) dims.push_back(0);
  return Tensor::zeros(declared.dtype == DType::none ? DType::f32 : declared.dtype, Shape(dims));
}

std::vector<TensorType> output_types(const Graph& graph, const Node& node) {
  std::vector<TensorType> types;
  for (const ValueId output : node.outputs)
    types.push_back(output == kNoValue ? TensorType{} : graph.value(output).type);
  return types;
}

class IfNode : public ControlFlow {
 public:
  IfNode(const Graph& graph, const Node& node, const PlanContext& context)
      : at_(place(context.where, place_of(node))),
        then_(graph, node, "then_branch", context, captures_),
        else_(graph, node, "else_branch", context, captures_) {}

  std::vector<Tensor> run(std::span<const Tensor> inputs) override {
    Body& branch = is_true(inputs[0], at_) ? then_ : else_;
    return branch.run({}, inputs.subspan(1));
  }

 private:
  std::string at_;
  Body then_, else_;
};

class LoopNode : public ControlFlow {
 public:
  LoopNode(const Graph& graph, const Node& node, const PlanContext& context)
      : at_(place(context.where, place_of(node))),
        body_(graph, node, "body", context, captures_),
        types_(output_types(graph, node)),
        node_inputs_(node.inputs.size()) {}

  std::vector<Tensor> run(std::span<const Tensor> inputs) override {
    const auto captures = inputs.subspan(node_inputs_);
    const size_t carried = body_.inputs() - 2;
    const int64_t trips = trip_count(inputs);
    std::vector<Tensor> state = {Tensor{}, Tensor{}};
    for (size_t i = 0; i < carried; ++i) state.push_back(inputs[i + 2]);
    bool going = node_inputs_ < 2 || !inputs[1] || is_true(inputs[1], at_);
    std::vector<std::vector<Tensor>> rows(types_.size() > carried ? types_.size() - carried : 0);
    for (int64_t i = 0; going && i < trips; ++i) {
      state[0] = Tensor::of<int64_t>({}, {i});
      state[1] = Tensor::of<bool>({}, {true});
      std::vector<Tensor> results = body_.run(state, captures);
      going = is_true(results[0], at_);
      for (size_t s = 0; s < carried; ++s) state[s + 2] = results[s + 1];
      for (size_t r = 0; r < rows.size(); ++r) rows[r].push_back(results[1 + carried + r]);
    }
    std::vector<Tensor> outputs(state.begin() + 2, state.end());
    for (size_t r = 0; r < rows.size(); ++r) {
      outputs.push_back(rows[r].empty() ? no_rows(types_[carried + r]) : stack(rows[r], at_));
    }
    return outputs;
  }

 private:
  int64_t trip_count(std::span<const Tensor> inputs) const {
    if (node_inputs_ < 1 || !inputs[0]) return INT64_MAX;
    if (inputs[0].dtype() == DType::i64 && inputs[0].count() == 1) return inputs[0].data<int64_t>()[0];
    throw Error(Code::invalid_argument, "the trip count is not one i64", at_);
  }

  std::string at_;
  Body body_;
  std::vector<TensorType> types_;
  size_t node_inputs_;
};

class ScanNode : public ControlFlow {
 public:
  ScanNode(const Graph& graph, const Node& node, const PlanContext& context)
      : at_(place(context.where, place_of(node))),
        body_(graph, node, "body", context, captures_),
        types_(output_types(graph, node)),
        node_inputs_(node.inputs.size()),
        state_(node_inputs_ - static_cast<size_t>(std::get<int64_t>(node.attributes.at("num_scan_inputs")))) {
    for (const char* name :
         {"scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"}) {
      const auto found = node.attributes.find(name);
      const auto* values = found == node.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
      if (values && std::any_of(values->begin(), values->end(), [](int64_t value) { return value != 0; })) {
        throw Error(Code::unsupported, fmt::format("attribute '{}' is not all 0", name), at_,
                    "scan along axis 0, forward");
      }
    }
  }

  std::vector<Tensor> run(std::span<const Tensor> inputs) override {
    std::vector<Tensor> arguments(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(node_inputs_));
    std::vector<std::vector<Tensor>> rows(types_.size() - state_);
    const int64_t length = expect_length(inputs);
    for (int64_t i = 0; i < length; ++i) {
      for (size_t s = state_; s < node_inputs_; ++s) arguments[s] = row(inputs[s], i);
      std::vector<Tensor> results = body_.run(arguments, inputs.subspan(node_inputs_));
      for (size_t s = 0; s < state_; ++s) arguments[s] = results[s];
      for (size_t r = 0; r < rows.size(); ++r) rows[r].push_back(results[state_ + r]);
    }
    std::vector<Tensor> outputs(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(state_));
    for (size_t r = 0; r < rows.size(); ++r) {
      outputs.push_back(rows[r].empty() ? no_rows(types_[state_ + r]) : stack(rows[r], at_));
    }
    return outputs;
  }

 private:
  int64_t expect_length(std::span<const Tensor> inputs) const {
    for (size_t s = state_; s < node_inputs_; ++s) {
      const Shape& shape = inputs[s].shape();
      if (shape.rank() < 1 || shape[0] != inputs[state_].shape()[0]) {
        throw Error(
            Code::invalid_argument,
            fmt::format("scan input {} has shape {}, expected as many rows as the first", s - state_, shape.text()),
            at_);
      }
    }
    return inputs[state_].shape()[0];
  }

  static Tensor row(const Tensor& tensor, int64_t index) {
    const Shape shape = tensor.shape().suffix(1);
    const int64_t bytes = bytes_of(tensor.dtype(), shape.count());
    return Tensor::borrow(tensor.dtype(), shape, static_cast<const std::byte*>(tensor.raw()) + index * bytes,
                          tensor.owner());
  }

  std::string at_;
  Body body_;
  std::vector<TensorType> types_;
  size_t node_inputs_, state_;
};

}  // namespace

std::unique_ptr<ControlFlow> ControlFlow::prepare(const Graph& graph, const Node& node, const PlanContext& context) {
  if (node.op == "If") return std::make_unique<IfNode>(graph, node, context);
  if (node.op == "Loop") return std::make_unique<LoopNode>(graph, node, context);
  return std::make_unique<ScanNode>(graph, node, context);
}

}  // namespace nxrt::exec
