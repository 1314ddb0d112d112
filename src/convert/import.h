// GGUF file or Hugging Face folder → a standard ONNX package.
//
//   import_model({.source = "model.gguf", .target = "models/m"}, [](const ImportProgress& p) { … return true; });
//
// Threads: one. Errors: Error naming file and tensor; the target folder appears whole or not at all (built beside it
// and renamed); an existing target is refused unless `overwrite`. Memory: tensors are streamed one at a time; peak far
// below the model's size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace genai {

// keep: the file's own quantization, block for block. int4 and int8 round what is wider (with int4 the token table to 8
// bits) and carry the rest over. f16: weights stored in half, computed in f32.
enum class Precision { keep, int4, int8, f16, f32 };

// What meets quantized weights (MatMulNBits' accuracy_level). Two int8 terms (int16) keep the tokens of float
// activations where one flips near-ties; while one stream decodes, bound by memory, they cost the same.
enum class ActivationBits { int8, int16, f32 };

struct ImportOptions {
  std::filesystem::path source;  // .gguf file
  std::filesystem::path target;  // folder to make
  Precision precision = Precision::keep;
  ActivationBits activations = ActivationBits::int16;
  bool overwrite = false;
};

struct ImportProgress {
  std::string stage;  // "weights"
  int64_t done_bytes = 0, total_bytes = 0;
};

struct ImportReport {
  std::string architecture, name, license;
  int64_t parameters = 0, source_bytes = 0, target_bytes = 0;
  std::vector<std::string> notes;  // what was not carried over
};

// `progress` returns false to cancel: Error{cancelled}, nothing left behind.
ImportReport import_model(const ImportOptions& options, const std::function<bool(const ImportProgress&)>& progress);

}  // namespace genai
