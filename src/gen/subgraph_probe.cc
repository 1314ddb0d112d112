#include "gen/subgraph_probe.h"

#include <algorithm>
#include <limits>

#include "base/half.h"
#include "passes/support/rewriter.h"

namespace genai {
using nxrt::DType;
using nxrt::Graph;
using nxrt::Tensor;
using nxrt::ValueId;
namespace {

constexpr float kHidden = -1e4f;  // added to a score, it leaves nothing of its exponential

template <class F>
Tensor integers(DType dtype, const nxrt::Shape& shape, F value) {
  Tensor tensor = Tensor::uninitialized(dtype, shape);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (dtype == DType::i32) {
      tensor.data<int32_t>()[i] = static_cast<int32_t>(value(i));
    } else if (dtype == DType::boolean) {
      tensor.data<bool>()[i] = value(i) != 0;
    } else {
      tensor.data<int64_t>()[i] = value(i);
    }
  }
  return tensor;
}

// Nodes and inputs that the outputs don't depend on.
void erase_dead(Graph& graph) {
  nxrt::passes::Rewriter edit(graph);
  const std::vector<nxrt::NodeId> nodes = edit.nodes();
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
    if (edit.alive(*id)) edit.erase_if_dead(*id);
  }
  const std::vector<ValueId> inputs = graph.inputs();
  for (const ValueId input : inputs) {
    if (graph.users(input).empty() && !graph.is_output(input)) graph.erase(input);
  }
}

}  // namespace

SubgraphProbe::SubgraphProbe(const Graph& graph, const DecoderPorts& ports, ValueId value, const std::string& where) {
  const auto name = [&](ValueId input, int axis, Length length) {
    if (input == nxrt::kNoValue) return;
    const auto& shape = graph.value(input).type.shape;
    if (!shape || axis >= shape->rank()) return;
    if (const auto symbol = (*shape)[axis].as_symbol()) symbols_[*symbol] = length;
  };
  for (const ValueId input : {ports.attention_mask, ports.position_ids, ports.input_ids}) name(input, 0, Length::batch);
  name(ports.attention_mask, 1, Length::total);
  name(ports.position_ids, 1, Length::rows);
  name(ports.input_ids, 1, Length::rows);
  name(ports.layers[0].past_key, 0, Length::batch);
  name(ports.layers[0].past_key, 2, Length::past);

  auto part = graph.clone();
  part->outputs() = {value};
  erase_dead(*part);
  const Cuts cuts = cut_at_lengths(*part);
  erase_dead(*part);
  classify(*part, ports, cuts);
  if (reason_.empty()) session_ = nxrt::exec::Session::prepare(std::move(part), where, workers_, {});
}

// Every value whose elements are known becomes an input.
SubgraphProbe::Cuts SubgraphProbe::cut_at_lengths(Graph& graph) {
  Cuts cuts;
  for (const nxrt::NodeId id : std::vector<nxrt::NodeId>(graph.order())) {
    for (const ValueId output : std::vector<ValueId>(graph.node(id).outputs)) {
      if (output == nxrt::kNoValue || graph.is_output(output)) continue;
      const nxrt::TensorType type = graph.value(output).type;
      const auto known = [](const nxrt::Dim& dim) { return dim.known(); };
      if (!type.elements || !type.shape || !type.shape->constant() || !std::ranges::all_of(*type.elements, known))
        continue;
      const ValueId input = graph.add_input(graph.unique_name("length"), {.dtype = type.dtype, .shape = type.shape});
      graph.replace_uses(output, input);
      cuts[input] = *type.elements;
    }
  }
  return cuts;
}

void SubgraphProbe::classify(const Graph& graph, const DecoderPorts& ports, const Cuts& cuts) {
  for (const ValueId input : graph.inputs()) {
    const std::string& name = graph.value(input).name;
    const DType dtype = graph.value(input).type.dtype;
    const auto cut = cuts.find(input);
    if (cut != cuts.end()) {
      inputs_[name] = {Input::lengths, cut->second};
      for (const nxrt::Dim& element : cut->second) {
        for (const std::string& symbol : element.symbols()) {
          if (!symbols_.contains(symbol)) reason_ = "depends on the size '" + symbol + "'";
        }
      }
    } else if (input == ports.attention_mask || input == ports.position_ids) {
      inputs_[name] = {input == ports.attention_mask ? Input::mask : Input::positions, {}};
    } else {
      reason_ = "depends on the contents of '" + name + "'";
    }
    if (dtype != DType::i64 && dtype != DType::i32 && dtype != DType::boolean && reason_.empty())
      reason_ = "depends on '" + name + "' of type " + std::string(name_of(dtype));
    if (!reason_.empty()) return;
  }
}

Tensor SubgraphProbe::input_tensor(const nxrt::exec::Port& port, int64_t past, int64_t rows) const {
  const Input& input = inputs_.at(port.name);
  if (input.role == Input::mask) return integers(port.type.dtype, {1, past + rows}, [](int64_t) { return 1; });
  if (input.role == Input::positions) return integers(port.type.dtype, {1, rows}, [&](int64_t i) { return past + i; });
  const auto length = [&](const std::string& symbol) -> std::optional<int64_t> {
    switch (symbols_.at(symbol)) {
      case Length::batch: return 1;
      case Length::past: return past;
      case Length::rows: return rows;
      case Length::total: return past + rows;
    }
    return {};
  };
  return integers(port.type.dtype, *port.type.shape->constant(),
                  [&](int64_t i) { return *input.elements[static_cast<size_t>(i)].evaluate(length); });
}

Tensor SubgraphProbe::run(int64_t past, int64_t rows) {
  std::map<std::string, Tensor> inputs;
  for (const nxrt::exec::Port& port : session_->inputs()) inputs[port.name] = input_tensor(port, past, rows);
  return session_->run(inputs).begin()->second;
}

double SubgraphProbe::number(int64_t past, int64_t rows) {
  const Tensor value = run(past, rows);
  if (value.dtype() == DType::f32) return static_cast<double>(value.data<float>()[0]);
  if (value.dtype() == DType::f16) return static_cast<double>(to_float(*static_cast<const nxrt::Half*>(value.raw())));
  return std::numeric_limits<double>::quiet_NaN();
}

namespace {

// A mask's element for row `row` and token `token`, whatever dims it broadcasts.
class MaskView {
 public:
  explicit MaskView(const Tensor& mask) : mask_(mask) {
    const int rank = mask.shape().rank();
    rows_ = rank >= 2 ? mask.shape()[rank - 2] : 1;
    tokens_ = rank >= 1 ? mask.shape()[rank - 1] : 1;
  }
  bool fits(int64_t rows, int64_t tokens) const {
    const bool one_for_all_heads = mask_.count() == rows_ * tokens_;
    return one_for_all_heads && (rows_ == rows || rows_ == 1) && (tokens_ == tokens || tokens_ == 1);
  }
  float at(int64_t row, int64_t token) const {
    const int64_t i = (rows_ == 1 ? 0 : row) * tokens_ + (tokens_ == 1 ? 0 : token);
    return mask_.dtype() == DType::f32 ? mask_.data<float>()[i]
                                       : to_float(static_cast<const nxrt::Half*>(mask_.raw())[i]);
  }

 private:
  const Tensor& mask_;
  int64_t rows_ = 1, tokens_ = 1;
};

struct Lengths {
  int64_t past, rows;
};

// Row i, at position past + i, sees the `window` tokens up to itself, or all when window is 0.
std::string mismatch(SubgraphProbe& probe, Lengths n, int64_t window) {
  const Tensor mask = probe.run(n.past, n.rows);
  const MaskView view(mask);
  const std::string where = " with " + std::to_string(n.past) + " past and " + std::to_string(n.rows) + " new tokens";
  if (!view.fits(n.rows, n.past + n.rows)) return "has the shape " + mask.shape().text() + where;
  for (int64_t row = 0; row < n.rows; ++row) {
    for (int64_t token = 0; token < n.past + n.rows; ++token) {
      const int64_t distance = n.past + row - token;
      const bool visible = distance >= 0 && (window == 0 || distance < window);
      const float value = view.at(row, token);
      if (visible ? value == 0 : value <= kHidden) continue;
      return "adds " + std::to_string(value) + " for row " + std::to_string(row) + " and token " +
             std::to_string(token) + where;
    }
  }
  return {};
}

// What the last row of a full context sees.
int64_t visible_tokens(SubgraphProbe& probe, int64_t context) {
  const Tensor mask = probe.run(context - 1, 1);
  const MaskView view(mask);
  if (!view.fits(1, context)) return 0;
  int64_t seen = 0;
  while (seen < context && view.at(0, context - 1 - seen) == 0) ++seen;
  return seen;
}

}  // namespace

MaskPattern mask_pattern(SubgraphProbe& probe, int64_t context_length) {
  MaskPattern pattern;
  const DType dtype = probe.run(0, 1).dtype();
  if (dtype != DType::f32 && dtype != DType::f16) {
    pattern.reason = "is " + std::string(name_of(dtype));
    return pattern;
  }
  const int64_t seen = visible_tokens(probe, context_length);
  pattern.window = seen == context_length ? 0 : seen;
  const Lengths last = {context_length - 1, 1};
  for (const Lengths n : {Lengths{0, 1}, {0, 6}, {3, 1}, {5, 4}, last}) {
    if (n.past + n.rows > context_length) continue;
    pattern.reason = mismatch(probe, n, pattern.window);
    if (!pattern.reason.empty()) return pattern;
  }
  pattern.known = true;
  return pattern;
}

}  // namespace genai
