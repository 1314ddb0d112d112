#include "exec/session.h"

#include <fmt/format.h>

#include "base/process_gate.h"
#include "exec/runner.h"
#include "exec/weights.h"
#include "graph/verifier.h"

namespace nxrt::exec {
namespace {

std::vector<Port> ports_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<Port> ports;
  for (const ValueId id : values) ports.push_back({graph.value(id).name, graph.value(id).type});
  return ports;
}

int find_port(const std::vector<Port>& ports, std::string_view name) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

void set(std::vector<Tensor>& tensors, int port, Tensor tensor) {
  const auto index = static_cast<size_t>(port);
  if (tensors.size() <= index) tensors.resize(index + 1);
  tensors[index] = std::move(tensor);
}

std::vector<passes::PassReport> rewrite(Graph& graph, const std::string& where, const Kernels& cpu, Workers& workers,
                                        const SessionOptions& options) {
  const passes::PassContext context{.where = where, .cpu = &cpu, .workers = &workers};
  if (options.optimize) return passes::run_pipeline(graph, context, {options.verify, options.skip_passes});
  passes::infer_shapes(graph, where);
  return {};
}

}  // namespace

void Binding::input(int port, const Tensor& tensor) { set(inputs_, port, tensor); }
void Binding::output(int port, Tensor tensor) { set(outputs_, port, std::move(tensor)); }
void Binding::clear() {
  inputs_.clear();
  outputs_.clear();
  paged_ = nullptr;
}

struct Session::Impl {
  std::unique_ptr<Graph> graph;
  std::string where;
  std::vector<passes::PassReport> reports;
  std::vector<Port> inputs, outputs;
  std::unique_ptr<Runner> runner;
  int64_t weight_bytes = 0;
  ActivationPlanStats stats;
  Profile profile;
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

std::unique_ptr<Session> Session::open(const std::filesystem::path& path, Workers& workers,
                                       const SessionOptions& options) {
  return prepare(read_model(path, options.limits), path.string(), workers, options);
}

std::unique_ptr<Session> Session::prepare(std::unique_ptr<Graph> graph, const std::string& where, Workers& workers,
                                          const SessionOptions& options) {
  if (options.verify) verify(*graph, where);
  const Kernels& cpu = kernels_for(options.isa.value_or(best_isa()));
  name_input_dims(*graph);
  align_constants(*graph);
  auto impl = std::make_unique<Impl>();
  impl->where = where;
  impl->reports = rewrite(*graph, where, cpu, workers, options);
  const PlanContext context{where, cpu, workers, options};
  Plan plan = make_plan(*graph, context);
  impl->weight_bytes = plan.packed_bytes + release_packed(*graph, plan);
  impl->inputs = ports_of(*graph, graph->inputs());
  impl->outputs = ports_of(*graph, graph->outputs());
  impl->graph = std::move(graph);
  impl->runner = std::make_unique<Runner>(*impl->graph, std::move(plan), context);
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

const std::vector<Port>& Session::inputs() const { return impl_->inputs; }
const std::vector<Port>& Session::outputs() const { return impl_->outputs; }
int Session::input_port(std::string_view name) const { return find_port(impl_->inputs, name); }
int Session::output_port(std::string_view name) const { return find_port(impl_->outputs, name); }

void Session::run(const Binding& binding) {
  if (!impl_->profile.on() && gates::phase_profile().on()) impl_->profile.start(false);
  impl_->runner->run({binding.inputs_, binding.outputs_, binding.paged_},
                     impl_->profile.on() ? &impl_->profile : nullptr);
  if (gates::activation_memory_plan().on()) impl_->stats = impl_->runner->memory_stats();
}

const Tensor& Session::result(int output_port) const { return impl_->runner->result(output_port); }

std::map<std::string, Tensor> Session::run(const std::map<std::string, Tensor>& inputs) {
  Binding binding;
  for (const auto& [name, tensor] : inputs) {
    const int port = input_port(name);
    if (port < 0) {
      std::string known;
      for (const Port& input : impl_->inputs) known += fmt::format("{}'{}'", known.empty() ? "" : ", ", input.name);
      throw Error(Code::not_found, fmt::format("there is no input '{}', expected {}", name, known), impl_->where);
    }
    binding.input(port, tensor);
  }
  run(binding);
  std::map<std::string, Tensor> results;
  for (size_t i = 0; i < impl_->outputs.size(); ++i) {
    results[impl_->outputs[i].name] = result(static_cast<int>(i)).clone();
  }
  return results;
}

const ActivationPlanStats& Session::activation_stats() const { return impl_->stats; }
const std::vector<passes::PassReport>& Session::pass_reports() const { return impl_->reports; }
Profile& Session::profile() { return impl_->profile; }
int64_t Session::weight_bytes() const { return impl_->weight_bytes; }
int64_t Session::activation_bytes() const { return impl_->runner->arena_bytes(); }
const Graph& Session::graph() const { return *impl_->graph; }

}  // namespace nxrt::exec
