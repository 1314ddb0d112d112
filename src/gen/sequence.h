// One row of the batch: its tokens, and which of them are in the cache.
#pragma once

#include <vector>

#include "gen/ids.h"

namespace genai {

struct Sequence {
  SequenceId id;
  std::vector<TokenId> tokens;  // the prompt, then what was generated
  int64_t prompt = 0;           // how many of them are the prompt
  int64_t computed = 0;         // the first `computed` are in the cache
  int64_t limit = 0;            // the most tokens it can ever have
  int64_t covered = 0;          // the most `computed` ever was
  int64_t cached = 0;           // of these, how many came from the cache instead of a forward step

  std::vector<BlockId> blocks;  // at least blocks_for(computed); empty for a dense model
  int tree_node = 0;            // prefix tree node of the last full block

  int priority = 0;      // higher goes first
  int64_t arrival = 0;   // earlier goes first
  int64_t reserved = 0;  // tokens admission set blocks aside for
  bool running = false;
  bool paused = false;               // not scheduled: its reader doesn't drain
  bool score_prompt = false;         // logits of every prompt row; nothing comes from the cache
  const Sequence* leader = nullptr;  // wait until this one's prompt is computed, then share its blocks

  // `computed` rises to `position` without a forward step.
  void take_cached(int64_t position) {
    cached += position > covered ? position - covered : 0;
    covered = position > covered ? position : covered;
    computed = position;
  }
  int64_t length() const { return static_cast<int64_t>(tokens.size()); }
  int64_t pending() const { return length() - computed; }
  bool decoding() const { return length() > prompt && pending() == 1; }
};

}  // namespace genai
