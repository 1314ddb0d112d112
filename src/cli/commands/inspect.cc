// onnx-genai inspect: what a model is, without running it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/workers.h"
#include "cli/command.h"
#include "cli/size_text.h"
#include "graph/text.h"
#include "onnx/reader.h"
#include "package/model_spec.h"
#include "passes/pass.h"

namespace genai::cli {
namespace {

using nlohmann::ordered_json;

struct Flags {
  std::string model;
  bool graph = false, passes = false, json = false;
};

struct Facts {
  std::map<std::string, int> operators;  // "com.microsoft.MatMulNBits" → nodes
  std::map<std::string, int64_t> bytes;  // of constants, by element type
  int64_t elements = 0;
};

Facts facts_of(const nxrt::Graph& graph) {
  Facts facts;
  for (const nxrt::NodeId id : graph.order()) {
    const nxrt::Node& node = graph.node(id);
    ++facts.operators[node.domain.empty() ? node.op : node.domain + "." + node.op];
  }
  for (const nxrt::ValueId id : graph.values()) {
    const nxrt::Value& value = graph.value(id);
    if (!value.constant) continue;
    facts.bytes[std::string(name_of(value.constant->dtype()))] += value.constant->bytes();
    facts.elements += value.constant->count();
  }
  return facts;
}

ordered_json ports_json(const nxrt::Graph& graph, const std::vector<nxrt::ValueId>& ports) {
  ordered_json all = ordered_json::object();
  for (const nxrt::ValueId port : ports) all[graph.value(port).name] = graph.value(port).type.text();
  return all;
}

ordered_json describe(const ModelSpec& spec, const nxrt::Graph& graph) {
  const Facts facts = facts_of(graph);
  ordered_json object = {{"folder", spec.folder.string()},
                         {"described_by", spec.source},
                         {"type", spec.model_type},
                         {"context_length", spec.context_length},
                         {"vocab_size", spec.vocab_size}};
  object["chat_templates"] = ordered_json::array();
  for (const auto& [name, source] : spec.chat_templates)
    object["chat_templates"].push_back(name.empty() ? "default" : name);
  object["eos_token_ids"] = ordered_json::array();
  for (const TokenId id : spec.generation.eos) object["eos_token_ids"].push_back(id.value);
  object["opsets"] = ordered_json::object();
  for (const auto& [domain, version] : graph.opsets) object["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
  object["nodes"] = graph.order().size();
  object["operators"] = facts.operators;
  object["constant_bytes"] = facts.bytes;
  object["inputs"] = ports_json(graph, graph.inputs());
  object["outputs"] = ports_json(graph, graph.outputs());
  return object;
}

void print_text(const ordered_json& object) {
  for (const auto& [key, value] : object.items()) {
    if (!value.is_object()) {
      std::printf("%-16s %s\n", key.c_str(),
                  value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
      continue;
    }
    std::printf("%s\n", key.c_str());
    for (const auto& [name, item] : value.items()) {
      const std::string text = key == "constant_bytes" ? size_text(item.get<int64_t>())
                               : item.is_string()      ? item.get<std::string>()
                                                       : item.dump();
      std::printf("  %-46s %s\n", name.c_str(), text.c_str());
    }
  }
}

void print_passes(nxrt::Graph& graph, const std::string& where) {
  nxrt::Workers workers(1);
  const auto reports = nxrt::passes::run_pipeline(
      graph, {.where = where, .cpu = &nxrt::kernels_for(nxrt::best_isa()), .workers = &workers});
  std::printf("%-36s %8s %8s %10s\n", "pass", "before", "after", "ms");
  for (const nxrt::passes::PassReport& report : reports) {
    if (report.changed)
      std::printf("%-36s %8d %8d %10.2f\n", report.pass.c_str(), report.nodes_before, report.nodes_after,
                  report.milliseconds);
  }
}

int run(const Flags& flags) {
  const ModelSpec spec = open_model_folder(flags.model);
  const std::unique_ptr<nxrt::Graph> graph = nxrt::read_model(spec.decoder);
  if (flags.passes) print_passes(*graph, spec.decoder.string());
  if (flags.graph) std::printf("%s", nxrt::print_graph(*graph).c_str());
  if (flags.passes || flags.graph) return kOk;
  const ordered_json object = describe(spec, *graph);
  if (flags.json) {
    std::printf("%s\n", object.dump(2).c_str());
  } else {
    print_text(object);
  }
  return kOk;
}

}  // namespace

Command inspect() {
  return {"inspect", "What a model is", "onnx-genai inspect models/smollm2 --passes",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            app.add_option("MODEL", flags->model, "Model folder (or the .onnx in it)")->required();
            app.add_flag("--graph", flags->graph, "Print the graph as text");
            app.add_flag("--passes", flags->passes, "Print what each rewrite did");
            app.add_flag("--json", flags->json, "Print one JSON object");
            return [flags] { return run(*flags); };
          }};
}

}  // namespace genai::cli
