// Streams weights from a GGUF file into model.onnx.data and makes the graph's constants that refer to them.
//
//   WeightStore store(file, graph, data, Precision::keep, advance);
//   StoredMatrix q = store.matrix("blk.0.attn_q.weight", "model.layers.0.attn.q_proj.MatMul.weight", {.rows = 576, …});
//
// Threads: one. Errors: Error naming file and tensor (missing, wrong shape), and what DataFile and `advance` throw.
// Memory:  a few MiB at a time; dense matrices that need transposing 64 MiB.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "convert/data_file.h"
#include "convert/gguf_file.h"
#include "convert/import.h"
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
  WeightStore(const GgufFile& file, nxrt::Graph& graph, DataFile& data, Precision precision,
              std::function<void(int64_t)> advance);

  nxrt::ValueId vector(const std::string& tensor, const std::string& name, const MatrixRequest& request);  // f32 [rows]
  StoredMatrix matrix(const std::string& tensor, const std::string& name, const MatrixRequest& request);
  // The same bytes once more, shaped for a product; only of a gathered matrix.
  StoredMatrix as_linear(const StoredMatrix& table, const std::string& name);
  // A computed f32 table [rows, columns]; `fill` writes one row.
  nxrt::ValueId floats(const std::string& name, int64_t rows, int64_t columns,
                       const std::function<void(int64_t row, float* out)>& fill);

  std::map<std::string, nxrt::ExternalTensor> take_external() { return std::move(external_); }
  int64_t rounded_tensors() const { return rounded_; }  // stored less exactly than the file has them, though "keep"

 private:
  struct Source;
  nxrt::ValueId place(const std::string& name, nxrt::DType dtype, const nxrt::Shape& shape);
  int64_t offset_of(nxrt::ValueId value) const;
  const GgufTensor& checked(const std::string& tensor, const MatrixRequest& request) const;
  void write_nbits(const Source& source, const StoredMatrix& to, bool carried);
  void write_rows(const Source& source, nxrt::ValueId to);
  void write_transposed(const Source& source, nxrt::ValueId to);

  const GgufFile& file_;
  nxrt::Graph& graph_;
  DataFile& data_;
  Precision precision_;
  std::function<void(int64_t)> advance_;
  std::map<std::string, nxrt::ExternalTensor> external_;
  int64_t rounded_ = 0;
};

}  // namespace genai
