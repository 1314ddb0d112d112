// The graph that an import makes, and its weights, streamed into model.onnx.data as the graph asks for them. Where the
// values come from is the derived class's business: a GGUF file (gguf_weights.h) or a generator (random_weights.h).
//
//   StoredMatrix q = store.matrix("blk.0.attn_q.weight", "model.layers.0.attn.q_proj.MatMul.weight", {.rows = 576, …});
//   …  store.write_model(where);
//
// Tensors have GGUF's names on the source's side, the graph's on the other.
// Threads: one. Errors: what the source says about a tensor, and what DataFile and `advance` throw.
// Memory:  a few MiB at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "convert/data_file.h"
#include "convert/nbits.h"
#include "graph/graph.h"
#include "onnx/writer.h"

namespace genai {

// Where a stored matrix is used: as the right side of a product, or as a table whose rows are gathered.
enum class MatrixUse { linear, gathered };

struct MatrixRequest {
  int64_t rows = 0, columns = 0;  // as ONNX's MatMul names them: N and K
  MatrixUse use = MatrixUse::linear;
  // Rows of heads stored with the two halves of a rotary pair interleaved are put apart; 0: rows stay as they are.
  int64_t interleaved_head = 0;
};

// Quantized: `form`, q, scales and perhaps zeros. Dense: `dense`, [K, N] for linear, [N, K] for gathered.
struct StoredMatrix {
  int64_t rows = 0, columns = 0;
  bool quantized = false;
  NBitsForm form;
  nxrt::ValueId q, scales, zeros, dense;
};

class WeightStore {
 public:
  // `advance` hears of source bytes done; it throws to cancel.
  WeightStore(const std::filesystem::path& folder, std::function<void(int64_t)> advance);
  virtual ~WeightStore() = default;
  WeightStore(const WeightStore&) = delete;
  WeightStore& operator=(const WeightStore&) = delete;

  virtual bool has(const std::string& tensor) const = 0;  // for those that not every model has
  virtual nxrt::ValueId vector(const std::string& tensor, const std::string& name,
                               const MatrixRequest& request) = 0;  // f32 [rows]
  virtual StoredMatrix matrix(const std::string& tensor, const std::string& name, const MatrixRequest& request) = 0;

  // The same bytes once more, shaped for a product; only of a gathered matrix.
  StoredMatrix as_linear(const StoredMatrix& table, const std::string& name);
  // A computed f32 table [rows, columns]; `fill` writes one row.
  nxrt::ValueId floats(const std::string& name, int64_t rows, int64_t columns,
                       const std::function<void(int64_t row, float* out)>& fill);

  nxrt::Graph& graph() { return graph_; }
  // Once, at the end: verifies the graph and writes model.onnx. `where` names the source in errors.
  void write_model(const std::string& where);

 protected:
  static constexpr int64_t kChunkBytes = 1 << 22;  // of source between two looks at `advance`

  nxrt::ValueId place(const std::string& name, nxrt::DType dtype, const nxrt::Shape& shape);
  void place_nbits(StoredMatrix& matrix, const std::string& name, MatrixUse use);  // q, scales, zeros of its form
  int64_t offset_of(nxrt::ValueId value) const;

  nxrt::Graph graph_;
  DataFile data_;
  std::function<void(int64_t)> advance_;

 private:
  std::filesystem::path folder_;
  std::map<std::string, nxrt::ExternalTensor> external_;
};

}  // namespace genai
