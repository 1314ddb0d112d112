// What the engine asks of a model: one forward step over rows of many sequences. Policy, cache and choice are not its
// business.
//
//   model.forward({.pool = pool.memory(), .sequences = sequences}, logits);
//
// A *paged* model reads and writes keys and values through the step's block tables and remembers nothing between steps.
// A *dense* one (paged() == false) gets one sequence per step, no blocks, and keeps its own cache per SequenceId.
//
// Threads: one at a time, the engine's. The const facts don't change and may be read from any thread.
// Errors:  forward may throw; the engine then runs the step's sequences one by one and fails only those that throw
// again.
//          Writing the same rows twice must therefore give the same cache.
#pragma once

#include <cstddef>
#include <span>

#include "gen/ids.h"
#include "gen/kv_layout.h"

namespace genai {

struct StepSequence {
  SequenceId id;
  std::span<const TokenId> tokens;  // new ones, at positions past, past + 1, …; at least one
  int64_t past = 0;                 // tokens already in the cache
  std::span<const BlockId>
      blocks;           // at least blocks_for(past + tokens.size()); block i holds positions 16 i … 16 i + 15
  int logits_rows = 0;  // how many of the last rows need logits: 0 none, 1 the last, tokens.size() all
};

struct Step {
  std::byte* pool = nullptr;  // block b starts at pool + b · block_bytes; null for a dense model
  std::span<const StepSequence> sequences;
};

class DecoderModel {
 public:
  virtual ~DecoderModel() = default;

  virtual int vocab_size() const = 0;
  virtual int context_length() const = 0;  // most tokens a sequence can have
  virtual int max_step_rows() const = 0;   // most new tokens of all sequences together in one step
  virtual bool paged() const = 0;
  virtual const KvLayout& kv_layout() const = 0;  // no layers when dense

  // logits: [Σ logits_rows, vocab_size], in the order of the step's sequences.
  virtual void forward(const Step& step, std::span<float> logits) = 0;

  // Dense models only; 0 <= position <= the sequence's tokens in the cache. An unknown sequence is forgotten silently.
  virtual void forget(SequenceId) {}
  virtual void rewind(SequenceId, int64_t /*position*/) {}
  virtual void fork(SequenceId /*from*/, SequenceId /*to*/, int64_t /*position*/) {}
};

}  // namespace genai
