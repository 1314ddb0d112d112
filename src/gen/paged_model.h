// A decoder on the paged path: one packed row of tokens of many sequences per step (gen/paged_rewrite.h).
//
// Threads: one, the engine's; shards over `workers`, which must outlive the model.
// Errors:  the constructor throws Error; forward throws only for a step that breaks its contract.
// Memory:  packed weights and one arena, planned at max_step_rows; nothing is allocated per step.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/session.h"
#include "gen/decoder_model.h"
#include "gen/paged_rewrite.h"

namespace genai {

class PagedModel : public DecoderModel {
 public:
  struct Options {
    int context_length = 0;
    int max_step_rows = 512;
    nxrt::DType kv_dtype = nxrt::DType::f32;
  };
  PagedModel(PagedDecoder decoder, const std::string& where, nxrt::Workers& workers, const Options& options,
             nxrt::exec::SessionOptions session);

  int vocab_size() const override { return vocab_size_; }
  int context_length() const override { return options_.context_length; }
  int max_step_rows() const override { return options_.max_step_rows; }
  bool paged() const override { return true; }
  const KvLayout& kv_layout() const override { return layout_; }
  void forward(const Step& step, std::span<float> logits) override;

  nxrt::exec::Session& session() { return *session_; }

 private:
  void pack(const Step& step);
  void bind(int64_t rows, int64_t logit_rows, std::span<float> logits);

  Options options_;
  int vocab_size_;
  KvLayout layout_;
  std::unique_ptr<nxrt::exec::Session> session_;
  int input_ids_, position_ids_, logit_rows_, logits_;  // ports; -1: the graph does not read it
  nxrt::Tensor ids_, positions_, rows_;                 // [max_step_rows]
  std::vector<nxrt::PagedSequence> sequences_;
  nxrt::PagedStep paged_;
  nxrt::exec::Binding binding_;
};

}  // namespace genai
