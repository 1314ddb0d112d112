// Graph → ONNX file. Deterministic bytes.
//
// Errors: Error{io} naming the path; nothing half-written is left at `path` (written beside it, then renamed).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace nxrt {

// Constants already stored in an external file: bytes that the writer refers to instead of embedding.
struct ExternalTensor {
  std::string file;  // relative to the model's folder
  int64_t offset = 0, length = 0;
};

struct WriteOptions {
  std::string producer = "onnx-genai";
  // Constants of at least this many bytes go to `external_file` (64-byte aligned); smaller ones are embedded.
  int64_t external_threshold = 1024;
  std::string external_file;  // "" = embed everything
  // By value name: written by the caller (the importer streams them), never touched here; the Tensor in the graph needs
  // only dtype and shape.
  std::map<std::string, ExternalTensor> already_external;
};

void write_model(const Graph& graph, const std::filesystem::path& path, const WriteOptions& options = {});
std::string model_bytes(const Graph& graph, const WriteOptions& options = {});  // external_file must be ""

}  // namespace nxrt
