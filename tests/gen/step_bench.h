// Drives a decoder by hand: sequences, the blocks they hold (handed out in a shuffled order), and the logits of all
// their rows so far.
//
//   StepBench bench(*model);
//   const int a = bench.add(tokens);
//   bench.step({{a, 5}, {b, 1}});   // five rows of a and one of b in one step
#pragma once

#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "base/tensor.h"
#include "gen/decoder_model.h"

namespace genai::test {

class StepBench {
 public:
  explicit StepBench(DecoderModel& model, uint32_t seed = 0, int64_t blocks = 64)
      : model_(model),
        pool_(nxrt::Tensor::zeros(nxrt::DType::u8, {model.paged() ? blocks * model.kv_layout().block_bytes : 0})),
        free_(static_cast<size_t>(blocks)) {
    std::memset(pool_.raw_mutable(), 0x7f, static_cast<size_t>(pool_.bytes()));  // a row read by mistake shows
    std::iota(free_.begin(), free_.end(), 0);
    std::shuffle(free_.begin(), free_.end(), std::mt19937(seed));
  }

  int add(std::vector<TokenId> tokens) {
    sequences_.push_back({.tokens = std::move(tokens)});
    return static_cast<int>(sequences_.size()) - 1;
  }
  int64_t left(int sequence) const { return static_cast<int64_t>(at(sequence).tokens.size()) - at(sequence).past; }
  const std::vector<float>& logits(int sequence) const { return at(sequence).logits; }

  void step(const std::vector<std::pair<int, int>>& parts) {
    std::vector<StepSequence> step;
    size_t rows = 0;
    for (const auto& [which, count] : parts) {
      Held& s = sequences_[static_cast<size_t>(which)];
      while (model_.paged() && static_cast<int64_t>(s.blocks.size()) < blocks_for(s.past + count)) {
        s.blocks.emplace_back(free_.back());
        free_.pop_back();
      }
      step.push_back({.id = SequenceId(which),
                      .tokens = std::span(s.tokens).subspan(static_cast<size_t>(s.past), static_cast<size_t>(count)),
                      .past = s.past,
                      .blocks = s.blocks,
                      .logits_rows = count});
      rows += static_cast<size_t>(count);
    }
    const auto vocab = static_cast<size_t>(model_.vocab_size());
    std::vector<float> logits(rows * vocab);
    model_.forward({.pool = static_cast<std::byte*>(pool_.raw_mutable()), .sequences = step}, logits);
    const float* next = logits.data();
    for (const auto& [which, count] : parts) {
      Held& s = sequences_[static_cast<size_t>(which)];
      s.logits.insert(s.logits.end(), next, next + static_cast<size_t>(count) * vocab);
      next += static_cast<size_t>(count) * vocab;
      s.past += count;
    }
  }

 private:
  struct Held {
    std::vector<TokenId> tokens;
    std::vector<BlockId> blocks;
    int64_t past = 0;
    std::vector<float> logits;
  };
  const Held& at(int sequence) const { return sequences_[static_cast<size_t>(sequence)]; }

  DecoderModel& model_;
  nxrt::Tensor pool_;
  std::vector<int32_t> free_;
  std::vector<Held> sequences_;
};

// Logits of every row of one prompt alone, in steps of the given sizes; the last size repeats.
inline std::vector<float> logits_alone(DecoderModel& model, const std::vector<TokenId>& tokens,
                                       const std::vector<int>& sizes = {1 << 20}, uint32_t seed = 0) {
  StepBench bench(model, seed);
  const int sequence = bench.add(tokens);
  for (size_t i = 0; bench.left(sequence) > 0; ++i) {
    const int rows = static_cast<int>(std::min<int64_t>(sizes[std::min(i, sizes.size() - 1)], bench.left(sequence)));
    bench.step({{sequence, rows}});
  }
  model.forget(SequenceId(sequence));
  return bench.logits(sequence);
}

inline std::vector<TokenId> random_tokens(uint32_t seed, int count, int vocab) {
  std::mt19937 random(seed);
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.emplace_back(static_cast<int32_t>(random() % static_cast<uint32_t>(vocab)));
  return tokens;
}

// The largest distance, as a part of the largest expected value.
inline float distance(const std::vector<float>& actual, const std::vector<float>& expected) {
  if (actual.size() != expected.size()) return std::numeric_limits<float>::infinity();
  float off = 0, largest = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (!(std::abs(actual[i] - expected[i]) <= off)) off = std::abs(actual[i] - expected[i]);
    largest = std::max(largest, std::abs(expected[i]));
  }
  return off / largest;
}

}  // namespace genai::test
