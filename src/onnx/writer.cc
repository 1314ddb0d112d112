#include "onnx/writer.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "onnx/atomic_file.h"
#include "onnx/graph_writer.h"

namespace nxrt {
namespace {

using onnx::AtomicFile;
using onnx::GraphWriter;
using onnx::WireWriter;

constexpr int64_t kAlignment = 64;
constexpr int kOpsetOfNothing = 21;  // a file has to import one

// The file of large constants; the same bytes are stored once.
class ExternalStore {
 public:
  ExternalStore(const WriteOptions& options, const std::filesystem::path& folder) : options_(options) {
    if (options.external_file.empty()) return;
    const std::filesystem::path name = options.external_file;
    if (name.has_parent_path() || name == "." || name == "..") {
      throw Error(Code::invalid_argument,
                  fmt::format("the external file is '{}', expected a plain file name", name.string()),
                  "WriteOptions.external_file");
    }
    file_ = std::make_unique<AtomicFile>(folder / name);
  }

  std::optional<ExternalTensor> operator()(const Value& value) {
    const auto done = options_.already_external.find(value.name);
    if (done != options_.already_external.end()) return done->second;
    const Tensor& tensor = *value.constant;
    if (!file_ || tensor.bytes() < options_.external_threshold) return {};
    const auto [known, fresh] = stored_.try_emplace({tensor.raw(), tensor.bytes()}, 0);
    if (fresh) known->second = append(tensor);
    return ExternalTensor{options_.external_file, known->second, tensor.bytes()};
  }

  void commit() {
    if (file_) file_->commit();
  }

 private:
  int64_t append(const Tensor& tensor) {
    file_->pad_to((file_->position() + kAlignment - 1) / kAlignment * kAlignment);
    const int64_t offset = file_->position();
    file_->write({static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes())});
    return offset;
  }

  const WriteOptions& options_;
  std::unique_ptr<AtomicFile> file_;
  std::map<std::pair<const void*, int64_t>, int64_t> stored_;
};

std::string serialize(const Graph& graph, const WriteOptions& options, ExternalStore& store) {
  GraphWriter writer([&store](const Value& value) { return store(value); });
  const WireWriter body = writer.graph(graph);
  std::map<std::string, int> opsets = writer.opsets();
  opsets.insert(graph.opsets.begin(), graph.opsets.end());  // those the nodes are written for win
  if (opsets.empty()) opsets[""] = kOpsetOfNothing;

  WireWriter out;
  out.integer(1, writer.ir_version());
  out.text_unless_empty(2, options.producer);
  out.message(7, body);
  for (const auto& [domain, version] : opsets) {
    WireWriter opset;
    opset.text(1, domain);
    opset.integer(2, version);
    out.message(8, opset);
  }
  for (const auto& [key, value] : graph.metadata) {
    WireWriter property;
    property.text(1, key);
    property.text(2, value);
    out.message(14, property);
  }
  return out.take();
}

}  // namespace

void write_model(const Graph& graph, const std::filesystem::path& path, const WriteOptions& options) {
  ExternalStore store(options, path.parent_path());
  AtomicFile file(path);
  file.write(serialize(graph, options, store));
  store.commit();
  file.commit();
}

std::string model_bytes(const Graph& graph, const WriteOptions& options) {
  if (!options.external_file.empty()) {
    throw Error(Code::invalid_argument, "model_bytes() has no folder for an external file",
                "WriteOptions.external_file");
  }
  ExternalStore store(options, {});
  return serialize(graph, options, store);
}

}  // namespace nxrt
