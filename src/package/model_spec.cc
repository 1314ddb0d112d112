#include "package/model_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "package/sources.h"

namespace genai {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNeeds = "a model folder holds one decoder .onnx (with its external data) and tokenizer.json";

bool is_graph_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".onnx") || name.ends_with(".onnx.textproto") || name.ends_with(".nxg");
}

std::vector<fs::path> graph_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (is_graph_file(entry.path()) && entry.is_regular_file(ignored)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Well-known names first; otherwise the only graph there is.
fs::path find_decoder(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"decoder.onnx", "model.onnx", "decoder_model_merged.onnx", "decoder.onnx.textproto",
                           "onnx/decoder.onnx", "onnx/model.onnx", "onnx/decoder_model_merged.onnx"}) {
    if (fs::exists(folder / name, ignored)) return folder / name;
  }
  const std::vector<fs::path> files = graph_files(folder);
  if (files.size() == 1) return files[0];
  if (files.empty()) throw Error(Code::not_found, "the folder has no .onnx file", folder.string(), kNeeds);
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.filename().string());
  throw Error(Code::invalid_argument,
              fmt::format("the folder has {} .onnx files and none is called decoder.onnx or model.onnx: {}",
                          names.size(), fmt::join(names, ", ")),
              folder.string(), "give the path of the decoder instead of the folder");
}

bool apply_declared(ModelSpec& spec) {
  std::error_code ignored;
  for (const char* name : {"inference_metadata.yaml", "inference_metadata.yml", "inference_metadata.json"}) {
    const fs::path file = spec.folder / name;
    if (!fs::exists(file, ignored)) continue;
    apply_inference_metadata(file.extension() == ".json" ? ConfigNode::read_json(file) : ConfigNode::read_yaml(file),
                             spec);
    spec.source = name;
    return true;
  }
  const fs::path file = spec.folder / "genai_config.json";
  if (!fs::exists(file, ignored)) return false;
  apply_genai_config(ConfigNode::read_json(file), spec);
  spec.source = "genai_config.json";
  return true;
}

fs::path find_tokenizer(const ModelSpec& spec) {
  std::error_code ignored;
  // Exports for the web keep their graphs one level down.
  for (const fs::path& folder : {spec.folder, spec.folder.parent_path()}) {
    const fs::path file = folder / "tokenizer.json";
    if (fs::exists(file, ignored) && (folder == spec.folder || spec.folder.filename() == "onnx")) return file;
  }
  throw Error(Code::not_found, "the folder has no tokenizer.json", spec.folder.string(), kNeeds);
}

}  // namespace

ModelSpec open_model_folder(const fs::path& path) {
  ModelSpec spec;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status)) throw Error(Code::not_found, "no such file or folder", path.string(), kNeeds);
  if (fs::is_directory(status)) {
    spec.folder = path.has_filename() ? path : path.parent_path();
  } else if (is_graph_file(path)) {
    spec.decoder = path;
    spec.folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  } else {
    throw Error(Code::invalid_argument, "this is neither a model folder nor an .onnx file", path.string(),
                path.extension() == ".gguf" ? "make a model folder of it with: onnx-genai import" : kNeeds);
  }
  spec.tokenizer_json = find_tokenizer(spec);
  if (spec.tokenizer_json.parent_path() != spec.folder) spec.folder = spec.tokenizer_json.parent_path();
  const bool declared = apply_declared(spec);
  const bool hugging_face = apply_hugging_face_files(spec);
  if (!declared) spec.source = hugging_face ? "config.json" : "graph";
  if (spec.decoder.empty()) spec.decoder = find_decoder(spec.folder);
  return spec;
}

}  // namespace genai
