// The weights of a GGUF file: blocks carried over without loss where a standard operator holds them, rounded where not.
//
//   GgufWeights weights(file, folder, Precision::keep, advance);
//
// Threads: one. Errors: Error naming file and tensor (missing, wrong shape), and what DataFile and `advance` throw.
// Memory:  a few MiB at a time; dense matrices that need transposing 64 MiB.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "convert/gguf_file.h"
#include "convert/import.h"
#include "convert/weight_store.h"

namespace genai {

class GgufWeights final : public WeightStore {
 public:
  GgufWeights(const GgufFile& file, const std::filesystem::path& folder, Precision precision,
              std::function<void(int64_t)> advance);

  bool has(const std::string& tensor) const override;
  nxrt::ValueId vector(const std::string& tensor, const std::string& name, const MatrixRequest& request) override;
  StoredMatrix matrix(const std::string& tensor, const std::string& name, const MatrixRequest& request) override;

  int64_t rounded_tensors() const { return rounded_; }  // stored less exactly than the file has them, though "keep"

 private:
  struct Source;
  const GgufTensor& checked(const std::string& tensor, const MatrixRequest& request) const;
  void write_nbits(const Source& source, const StoredMatrix& to, bool carried);
  void write_rows(const Source& source, nxrt::ValueId to);
  void write_transposed(const Source& source, nxrt::ValueId to);

  const GgufFile& file_;
  Precision precision_;
  int64_t rounded_ = 0;
};

}  // namespace genai
