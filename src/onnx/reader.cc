#include "onnx/reader.h"

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "graph/text.h"
#include "graph/verifier.h"
#include "onnx/graph_reader.h"
#include "onnx/textproto.h"

namespace nxrt {
namespace {

using namespace onnx;  // NOLINT: this file is the folder's front door

constexpr int kNewestIrVersion = 14;
constexpr int kRewriteOpset = 21;  // of ai.onnx nodes that rewrites add to a model that imports none
constexpr int64_t kFixedBudget = int64_t{64} << 20;

// ModelProto without what nobody reads.
struct ModelFields {
  int64_t ir_version = 0;
  std::map<std::string, int> opsets;
  std::map<std::string, std::string> metadata;
  std::optional<Bytes> graph;
  std::vector<Bytes> functions;
};

void read_opset(ReadContext& context, Bytes message, std::map<std::string, int>& opsets, const std::string& at) {
  std::string domain;
  int32_t version = 0;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    if (field->number == 1) domain = canonical_domain(field->text());
    if (field->number == 2) version = field->i32();
  }
  context.budget.charge(128);
  if (version < 1) {
    context.fail(Code::corrupt, fmt::format("opset {} of domain '{}', expected at least 1", version, domain), at);
  }
  const auto [it, fresh] = opsets.emplace(domain, version);
  if (!fresh && it->second != version) {
    context.fail(Code::corrupt, fmt::format("domain '{}' is imported as opset {} and {}", domain, it->second, version),
                 at);
  }
}

void read_metadata(ReadContext& context, Bytes message, std::map<std::string, std::string>& metadata) {
  std::string key, value;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    if (field->number == 1) key = field->text();
    if (field->number == 2) value = field->text();
  }
  context.budget.charge(static_cast<int64_t>(128 + key.size() + value.size()));
  metadata[key] = value;
}

ModelFields read_model_fields(ReadContext& context, Bytes message) {
  ModelFields model;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    switch (field->number) {
      case 1: model.ir_version = field->i64(); break;
      case 7: model.graph = field->bytes(); break;
      case 8: read_opset(context, field->bytes(), model.opsets, "opset_import"); break;
      case 14: read_metadata(context, field->bytes(), model.metadata); break;
      case 25: model.functions.push_back(field->bytes()); break;
      default: break;
    }
  }
  return model;
}

void check_versions(const ReadContext& context, ModelFields& model) {
  if (!model.graph) {
    context.fail(Code::corrupt, "the file holds no graph", "", "give the path of an ONNX model");
  }
  if (model.ir_version < 1 || model.ir_version > kNewestIrVersion) {
    context.fail(Code::unsupported,
                 fmt::format("ir_version is {}, expected 1 to {}", model.ir_version, kNewestIrVersion), "ir_version",
                 "export the model with another version of onnx");
  }
  if (model.opsets.empty() && model.ir_version >= 3) {
    context.fail(Code::corrupt, "the model imports no opset", "opset_import", "export the model again");
  }
  if (model.ir_version < 3) model.opsets.try_emplace("", 1);  // there was nothing else
}

std::string_view attribute_name(const ReadContext& context, Bytes message) {
  std::string_view name;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    if (field->number == 1) name = field->text();
  }
  return name;
}

void read_function(ReadContext& context, Bytes message) {
  Function function;
  std::string domain, overload;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    context.budget.charge(96);
    switch (field->number) {
      case 1: function.name = field->text(); break;
      case 4: function.inputs.push_back(field->text()); break;
      case 5: function.outputs.push_back(field->text()); break;
      case 7: function.nodes.push_back(field->bytes()); break;
      case 9: read_opset(context, field->bytes(), function.opsets, "function"); break;
      case 10: domain = canonical_domain(field->text()); break;
      case 11: function.defaults[attribute_name(context, field->bytes())] = field->bytes(); break;
      case 13: overload = field->text(); break;
      default: break;
    }
  }
  const std::string at = fmt::format("function '{}'", function.name);
  function.nodes = in_topological_order(context, std::move(function.nodes), function.opsets, 0);
  if (!context.functions.emplace(FunctionKey(domain, function.name, overload), std::move(function)).second) {
    context.fail(Code::corrupt, "the function is defined twice", at);
  }
}

std::shared_ptr<const std::string> wire_form_of(const MappedFile& file, const std::string& where) {
  const Bytes bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::make_shared<const std::string>(textproto_to_wire(text, where));
}

}  // namespace

void onnx::MemoryBudget::refuse(int64_t bytes) const {
  throw Error(Code::out_of_capacity,
              fmt::format("reading needs {} bytes more than a file of this size can justify", bytes - left_), where_,
              "the file is damaged, or holds weights as lists of numbers: save them as raw data");
}

std::unique_ptr<Graph> read_model(const std::filesystem::path& path, const ReadLimits& limits) {
  const auto file = MappedFile::open(path);
  const std::string where = path.string();
  if (path.extension() == ".nxg") {
    return parse_graph({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, where);
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (path.extension() != ".textproto") return read_model_bytes(file->bytes(), file, folder, where, limits);
  const auto wire = wire_form_of(*file, where);
  return read_model_bytes(std::as_bytes(std::span(*wire)), wire, folder, where, limits);
}

std::unique_ptr<Graph> read_model_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                        const std::filesystem::path& folder, const std::string& where,
                                        const ReadLimits& limits) {
  ReadContext context{.source = {where, bytes.data()},
                      .owner = std::move(owner),
                      .limits = limits,
                      .budget = MemoryBudget(where, 2 * static_cast<int64_t>(bytes.size()) + kFixedBudget),
                      .external = ExternalFiles(folder, limits.max_external_bytes)};
  ModelFields model = read_model_fields(context, bytes);
  check_versions(context, model);
  for (const Bytes function : model.functions) read_function(context, function);

  auto graph = std::make_unique<Graph>();
  graph->opsets = model.opsets;
  graph->metadata = std::move(model.metadata);
  for (const auto& [key, function] : context.functions) {
    for (const auto& [domain, version] : function.opsets) graph->opsets.try_emplace(domain, version);
  }
  graph->opsets.try_emplace("", kRewriteOpset);
  Scope scope{.graph = *graph, .opsets = model.opsets};
  GraphReader(context).read_graph(*model.graph, scope);
  verify(*graph, where);
  return graph;
}

}  // namespace nxrt
