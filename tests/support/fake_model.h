// A decoder without weights: its logits are a hash of the whole history, which it reads back through the block table
// (or, dense, from its own cache) as it would read keys and values. A wrong block table, a stale block or a missed copy
// changes the tokens.
//
//   auto model = std::make_unique<FakeModel>(FakeModel::Options{});
//   TokenId next = FakeModel::greedy(history, model->vocab_size());   // what must come out, from the history alone
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "gen/decoder_model.h"

namespace genai {

class FakeModel : public DecoderModel {
 public:
  struct Options {
    int vocab_size = 61;
    int context_length = 4096;
    int max_step_rows = 64;
    bool paged = true;
    nxrt::DType dtype = nxrt::DType::f32;
    float repeats = 0;  // how much the latest token alone decides: above 0 the text repeats itself
  };
  explicit FakeModel(const Options& options);

  int vocab_size() const override { return options_.vocab_size; }
  int context_length() const override { return options_.context_length; }
  int max_step_rows() const override { return options_.max_step_rows; }
  bool paged() const override { return options_.paged; }
  const KvLayout& kv_layout() const override { return layout_; }
  void forward(const Step& step, std::span<float> logits) override;
  void forget(SequenceId id) override { caches_.erase(id); }
  void rewind(SequenceId id, int64_t position) override { caches_.at(id).resize(static_cast<size_t>(position)); }
  void fork(SequenceId from, SequenceId to, int64_t position) override;

  // The definition: logits [vocab] after `history`.
  static void logits_after(std::span<const TokenId> history, std::span<float> logits, float repeats = 0);
  static TokenId greedy(std::span<const TokenId> history, int vocab_size, float repeats = 0);
  static std::vector<TokenId> greedy_answer(std::vector<TokenId> history, int count, int vocab_size, float repeats = 0);

  std::function<void(const Step&)> before_forward;                       // may throw, sleep or look
  std::function<void(const StepSequence&, std::span<float>)> after_row;  // may spoil the logits [vocab] of a last row
  int64_t rows = 0, steps = 0;
  size_t caches() const { return caches_.size(); }

 private:
  std::vector<TokenId> history(const Step& step, const StepSequence& sequence);
  float* slot(const Step& step, const StepSequence& sequence, int64_t position, bool value);

  Options options_;
  KvLayout layout_;
  std::map<SequenceId, std::vector<TokenId>> caches_;  // dense
};

}  // namespace genai
