// A decoder as it was exported: past tensors in, present tensors out, one sequence per step. Slower than the paged path
// and still correct: for graphs in which something other than attention mixes tokens.
//
// Threads: one, the engine's. Errors: the constructor throws Error; forward throws for an unknown past.
// Memory:  each sequence keeps its present tensors; a fork shares them until it grows.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/session.h"
#include "gen/decoder_model.h"
#include "gen/decoder_ports.h"

namespace genai {

class DenseModel : public DecoderModel {
 public:
  struct Options {
    int context_length = 0;
    int max_step_rows = 512;
  };
  // `ports` refer to `graph`, whose shapes have been inferred.
  DenseModel(std::unique_ptr<nxrt::Graph> graph, const DecoderPorts& ports, const std::string& where,
             nxrt::Workers& workers, const Options& options, const nxrt::exec::SessionOptions& session);

  int vocab_size() const override { return vocab_size_; }
  int context_length() const override { return options_.context_length; }
  int max_step_rows() const override { return options_.max_step_rows; }
  bool paged() const override { return false; }
  const KvLayout& kv_layout() const override { return no_layout_; }
  void forward(const Step& step, std::span<float> logits) override;
  void forget(SequenceId id) override { caches_.erase(id); }
  void rewind(SequenceId id, int64_t position) override;
  void fork(SequenceId from, SequenceId to, int64_t position) override;

  nxrt::exec::Session& session() { return *session_; }

 private:
  struct CachePort {
    int past = -1, present = -1;  // input and output port
    nxrt::DType dtype = nxrt::DType::f32;
    KvHeads heads;
  };
  struct Cache {
    int64_t tokens = 0;
    std::vector<nxrt::Tensor> tensors;  // as caches_ports_: [1, kv_heads, tokens, head_dim]; never written once stored
  };
  Cache& cache_at(const StepSequence& sequence);
  void bind_tokens(const StepSequence& sequence);
  void copy_logits(const StepSequence& sequence, std::span<float> logits) const;
  Cache cut(const Cache& cache, int64_t position) const;

  Options options_;
  int vocab_size_ = 0;
  KvLayout no_layout_;  // its dtype is the past inputs'
  std::unique_ptr<nxrt::exec::Session> session_;
  int input_ids_, attention_mask_, position_ids_, logits_;
  std::vector<CachePort> cache_ports_;
  std::unordered_map<SequenceId, Cache> caches_;
  nxrt::exec::Binding binding_;
};

}  // namespace genai
