// A loaded graph, ready to run: the plan, its packed weights, its arena.
//
//   auto session = Session::open("model.onnx", workers, {});
//   std::vector<Tensor> out = session->run({{"x", x}});
//
// Threads: one run at a time per Session (the C API makes concurrent runs safe by giving each its own Run state);
//          compute is sharded over `workers`. const accessors from any thread between runs.
// Errors:  open throws Error; run throws Error{invalid_argument} for a missing input, a wrong dtype, or shapes that
//          contradict, naming the input. After the inputs are accepted nothing fails.
// Memory:  weights are packed once and the mapping's pages dropped; activations live in one arena; a second run with
// the
//          same shapes allocates nothing; bounds keep the arena for smaller ones.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "base/workers.h"
#include "exec/memory_planner.h"
#include "exec/profile.h"
#include "graph/graph.h"
#include "onnx/reader.h"
#include "ops/paged_step.h"
#include "passes/pass.h"

namespace nxrt::exec {

struct SessionOptions {
  std::optional<Isa> isa;                        // default: best_isa()
  std::map<std::string, int64_t> symbol_bounds;  // "T" → 512: the arena is planned once at the bound
  bool optimize = true;                          // false: shape inference and dead code only
  bool verify = false;                           // verifier after every pass
  bool share_buffers = true;                     // false: a buffer of its own for every value (debug)
  std::vector<std::string> skip_passes;
  ReadLimits limits;
};

struct Port {
  std::string name;
  TensorType type;
};

// Named inputs, and optionally named output buffers written in place (IO binding). Reused across runs without
// allocating when names and buffers stay.
class Binding {
 public:
  void input(int port, const Tensor& tensor);  // borrowed until the next call for this port
  void output(int port, Tensor tensor);        // must have the resulting dtype and count; absent: the session allocates
  void paged(const PagedStep* step) { paged_ = step; }
  void clear();

 private:
  friend class Session;
  std::vector<Tensor> inputs_, outputs_;
  const PagedStep* paged_ = nullptr;
};

class Session {
 public:
  static std::unique_ptr<Session> open(const std::filesystem::path& path, Workers& workers,
                                       const SessionOptions& options = {});
  // Takes a graph (from the reader, or rewritten by gen/decoder_binding). `where` names it in errors.
  static std::unique_ptr<Session> prepare(std::unique_ptr<Graph> graph, const std::string& where, Workers& workers,
                                          const SessionOptions& options = {});
  ~Session();

  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  int input_port(std::string_view name) const;  // -1 when absent
  int output_port(std::string_view name) const;

  // Results of the last run stay valid in the session until the next run; run() by map copies them out.
  void run(const Binding& binding);
  const Tensor& result(int output_port) const;
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs);

  const ActivationPlanStats& activation_stats() const;  // complete only after a run with the gate on
  const std::vector<passes::PassReport>& pass_reports() const;
  Profile& profile();
  int64_t weight_bytes() const;      // resident: packed plus unpacked constants in use
  int64_t activation_bytes() const;  // the arena
  const Graph& graph() const;        // after the passes

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nxrt::exec
