// Random 4-bit weights in the storage an int4 import has: blocks of 32, the token table in 8 bits, norms near 1.
//
//   RandomWeights weights(config, seed, folder, advance);
//
// A tensor's values depend on the seed and its name alone. Their variance keeps activations of a deep model in range.
// Threads: one. Errors: what DataFile and `advance` throw. Memory: a few MiB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "convert/llama_config.h"
#include "convert/weight_store.h"

namespace genai {

class RandomWeights final : public WeightStore {
 public:
  // `advance` hears of parameters made.
  RandomWeights(const LlamaConfig& config, uint64_t seed, const std::filesystem::path& folder,
                std::function<void(int64_t)> advance);

  bool has(const std::string& tensor) const override;  // qwen2: biases of q, k, v; qwen3: norms of heads
  nxrt::ValueId vector(const std::string& tensor, const std::string& name, const MatrixRequest& request) override;
  StoredMatrix matrix(const std::string& tensor, const std::string& name, const MatrixRequest& request) override;

  int64_t parameters() const { return parameters_; }

 private:
  void advance(int64_t parameters);

  std::string architecture_;
  uint64_t seed_;
  int64_t parameters_ = 0;
};

}  // namespace genai
