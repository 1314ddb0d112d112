#include "support/fake_model.h"

#include <algorithm>
#include <stdexcept>

namespace genai {
namespace {
uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0xff51afd7ed558ccdu;
  return h ^ (h >> 29);
}
}  // namespace

FakeModel::FakeModel(const Options& options) : options_(options) {
  const std::vector<KvHeads> layers = {{.kv_heads = 1, .head_dim = 2}, {.kv_heads = 2, .head_dim = 4}};
  layout_ = make_kv_layout(layers, options.dtype);
  if (!options.paged) layout_ = {};
}

void FakeModel::logits_after(std::span<const TokenId> history, std::span<float> logits, float repeats) {
  const auto at = [](uint64_t h, size_t v) {
    return static_cast<float>(mix(mix(h, v), v) >> 40) / static_cast<float>(1 << 22) - 2.0f;
  };
  uint64_t h = 0x1234567;
  for (const TokenId token : history) h = mix(h, static_cast<uint32_t>(token.value));
  for (size_t v = 0; v < logits.size(); ++v) {
    logits[v] = at(h, v);
    if (repeats > 0) logits[v] += repeats * at(static_cast<uint32_t>(history.back().value), v);
  }
}

TokenId FakeModel::greedy(std::span<const TokenId> history, int vocab_size, float repeats) {
  std::vector<float> logits(static_cast<size_t>(vocab_size));
  logits_after(history, logits, repeats);
  return TokenId(static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
}

std::vector<TokenId> FakeModel::greedy_answer(std::vector<TokenId> history, int count, int vocab_size, float repeats) {
  const size_t prompt = history.size();
  for (int i = 0; i < count; ++i) history.push_back(greedy(history, vocab_size, repeats));
  return {history.begin() + static_cast<ptrdiff_t>(prompt), history.end()};
}

// Token in layer 0's keys, position in layer 1's values: both ends of the block are in use.
float* FakeModel::slot(const Step& step, const StepSequence& sequence, int64_t position, bool value) {
  const BlockId block = sequence.blocks[static_cast<size_t>(position / kBlockTokens)];
  std::byte* base = step.pool + block.value * layout_.block_bytes;
  const int64_t row = position % kBlockTokens;
  if (!value) return reinterpret_cast<float*>(base + layout_.layers[0].k_offset) + row * 2;
  return reinterpret_cast<float*>(base + layout_.layers[1].v_offset) + kBlockTokens * 4 + row * 4;  // head 1
}

std::vector<TokenId> FakeModel::history(const Step& step, const StepSequence& sequence) {
  std::vector<TokenId> read;
  for (int64_t p = 0; p < sequence.past; ++p) {
    const float position = *slot(step, sequence, p, true);
    const float token = *slot(step, sequence, p, false);
    // A wrong position spoils the token: the hash, and so the answer, differs from the definition.
    read.emplace_back(static_cast<int32_t>(token) + (position == static_cast<float>(p) ? 0 : 100000));
  }
  return read;
}

void FakeModel::fork(SequenceId from, SequenceId to, int64_t position) {
  const std::vector<TokenId>& source = caches_.at(from);
  caches_[to] = {source.begin(), source.begin() + position};
}

void FakeModel::forward(const Step& step, std::span<float> logits) {
  if (before_forward) before_forward(step);
  ++steps;
  if (!options_.paged && step.sequences.size() != 1) throw std::logic_error("a dense model got several sequences");
  size_t at = 0;
  const size_t vocab = static_cast<size_t>(options_.vocab_size);
  for (const StepSequence& s : step.sequences) {
    const int64_t count = static_cast<int64_t>(s.tokens.size());
    rows += count;
    std::vector<TokenId> seen;
    if (options_.paged) {
      for (int64_t r = 0; r < count; ++r) {
        *slot(step, s, s.past + r, false) = static_cast<float>(s.tokens[static_cast<size_t>(r)].value);
        *slot(step, s, s.past + r, true) = static_cast<float>(s.past + r);
      }
      seen = history(step, s);
    } else {
      caches_[s.id].resize(static_cast<size_t>(s.past), TokenId(100000));
      seen = caches_[s.id];
    }
    for (int64_t r = 0; r < count; ++r) {
      seen.push_back(s.tokens[static_cast<size_t>(r)]);
      if (r < count - s.logits_rows) continue;
      logits_after(seen, logits.subspan(at, vocab), options_.repeats);
      if (after_row) after_row(s, logits.subspan(at, vocab));
      at += vocab;
    }
    if (!options_.paged) caches_[s.id] = seen;
  }
  if (at != logits.size()) throw std::logic_error("logits have the wrong number of rows");
}

}  // namespace genai
