// What GroupQueryAttention and PagedAttention share: where a head's row lies in a projection, how queries and keys are
// normalised and rotated, and the loop of query rows over cached keys and values.
//
// Threads: everything is const at run; a worker brings its own scratch.
// Rows:    a row meets the tokens it sees in order, in spans cut at fixed token numbers, and what segments of fixed
//          tokens give is added in order: its result depends on its own sequence alone, however the rows of a step are
//          tiled and whoever computes which segment.
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>

#include "ops/op.h"
#include "ops/support/rotary.h"

namespace nxrt::ops {

inline constexpr int64_t kTileQueries = 8;       // query rows that meet a span of keys while it is in cache
inline constexpr int64_t kSegmentTokens = 1024;  // a multiple of TokenRows::kMost

struct AttentionConfig {
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  float scale = 0.0f, softcap = 0.0f, norm_epsilon = 1e-6f;
  int64_t window = 0;  // tokens a row sees, itself included; 0: all before it
  bool causal = true;
  bool smooth_softmax = false;  // one more score of 0 in every softmax's denominator
  bool do_rotary = false, interleaved = false;

  // The attributes of com.microsoft GroupQueryAttention; query_width is the last dim of input 0, packed: of Q, K and V.
  AttentionConfig() = default;
  AttentionConfig(const NodeView& node, int64_t query_width, bool packed);
  int64_t group() const { return heads / kv_heads; }
};

// Rows of heads inside a projection: head h of row r starts at element offset + r·stride + h·head_dim.
struct HeadRows {
  DType dtype = DType::f32;
  const void* data = nullptr;
  int64_t offset = 0, stride = 0;
};

// The step's projections and what happens to them before they meet.
struct Projections {
  HeadRows q, k, v;
  DType norm_dtype = DType::f32;
  const void* q_norm = nullptr;  // [head_dim] or null
  const void* k_norm = nullptr;
  Rotary rotary;  // no positions: none

  // Inputs 0, 1, 2 of a node whose rows are [.., heads·head_dim]; packed when 1 and 2 are omitted.
  static Projections of(const Args& args, const AttentionConfig& config);
};

// Running attention of queries: accumulators [count, head_dim] and their softmax states [count].
struct Running {
  float* out;
  AttentionState* states;
};

// One worker's scratch for a tile.
struct TileScratch {
  float* q;       // [kTileQueries, group, head_dim], rotated
  Running total;  // of kTileQueries · group queries
  Running part;   // of one segment
  float* rows;    // [5, head_dim]

  static int64_t bytes(const AttentionConfig& config);
  TileScratch(const AttentionConfig& config, std::byte* at);
};

// Row r, head h, normalised and rotated for its position, into y [head_dim].
void load_query(const Kernels& cpu, const AttentionConfig& config, const Projections& p, int64_t row, int64_t head,
                int64_t position, float* y, float* rows);
// The same for a key, and the untouched value, stored as `dtype` at element `at` of k and of v.
struct CacheSlot {
  DType dtype;
  void* k;
  void* v;
  int64_t k_at, v_at;
};
void append_token(const Kernels& cpu, const AttentionConfig& config, const Projections& p, int64_t row, int64_t head,
                  int64_t position, const CacheSlot& slot, float* rows);

// Query rows at consecutive positions of one sequence, for the heads that share kv head `kv_head`.
struct QueryTile {
  int64_t first_row, rows;  // rows <= kTileQueries
  int64_t position;         // of the first row
  int64_t tokens;           // in the cache
  int64_t kv_head;

  int64_t end_of(const AttentionConfig& config, int64_t r) const {
    return config.causal ? std::min(tokens, position + r + 1) : tokens;
  }
  int64_t begin_of(const AttentionConfig& config, int64_t r) const {
    return config.window > 0 ? std::max<int64_t>(0, position + r + 1 - config.window) : 0;
  }
};

// Output rows [.., heads·head_dim] of any float type.
struct AttentionOutput {
  DType dtype;
  void* data;
};

void clear(const AttentionConfig& config, int64_t queries, const Running& running);
// total += part, for queries that met later tokens in `part`.
void merge(const Kernels& cpu, const AttentionConfig& config, int64_t queries, const Running& total,
           const Running& part);
// Normalises `total` of the tile's queries and stores them. sinks: [heads] extra scores per head, or null.
void finish_tile(const Kernels& cpu, const AttentionConfig& config, const QueryTile& tile, const float* sinks,
                 const Running& total, const AttentionOutput& y);
// Loads the tile's queries into q, row r rotated for position_of(r).
template <class PositionOf>
void load_tile(const Kernels& cpu, const AttentionConfig& config, const Projections& p, const QueryTile& tile,
               const TileScratch& scratch, PositionOf&& position_of) {
  const int64_t group = config.group(), dim = config.head_dim;
  for (int64_t i = 0; i < tile.rows * group; ++i) {
    load_query(cpu, config, p, tile.first_row + i / group, tile.kv_head * group + i % group, position_of(i / group),
               scratch.q + i * dim, scratch.rows);
  }
}

// Keys and values that lie together: `tokens` rows, `stride` bytes apart.
struct CacheSpan {
  const std::byte* k;
  const std::byte* v;
  int64_t stride;
  int64_t tokens;
};

// Where the rows of the tokens [begin, end) lie.
struct TokenRows {
  static constexpr int64_t kMost = 64;
  const void* k[kMost];
  const void* v[kMost];
  int64_t begin = 0, end = 0;

  int64_t count() const { return end - begin; }
  // The tokens from `from` on, to the next multiple of kMost or to `last`.
  template <class SpanAt>
  void load(int64_t from, int64_t last, SpanAt&& span_at) {
    begin = from, end = std::min(last, from - from % kMost + kMost);
    for (int64_t t = begin; t < end;) {
      const CacheSpan span = span_at(t);
      for (int64_t i = 0; i < span.tokens && t < end; ++i, ++t) {
        k[t - begin] = span.k + i * span.stride;
        v[t - begin] = span.v + i * span.stride;
      }
    }
  }
};

// The tokens [first, last); those up to `after` come next.
struct Segment {
  int64_t first, last, after;
};

// The tile's queries through a segment; `running` is cleared before. span_at(t) gives the keys and values from token t
// on that lie together, of kv head tile.kv_head.
template <class SpanAt>
void attend_segment(const Kernels& cpu, const AttentionConfig& config, DType cache, const QueryTile& tile,
                    const Segment& segment, const TileScratch& scratch, const Running& running, SpanAt&& span_at) {
  const auto attend = cache == DType::f16 ? cpu.attend_f16 : cpu.attend_f32;
  const int64_t dim = config.head_dim;
  clear(config, tile.rows * config.group(), running);
  TokenRows one, other, *here = &one, *next = &other;
  for (here->load(segment.first, segment.last, span_at); here->begin < segment.last; std::swap(here, next)) {
    next->load(here->end, segment.after, span_at);
    const auto range = [&](int64_t r) {
      return std::pair(std::max(here->begin, tile.begin_of(config, r)), std::min(here->end, tile.end_of(config, r)));
    };
    for (int64_t r = 0, end = 0; r < tile.rows; r = end) {
      const auto [from, to] = range(r);
      for (end = r + 1; end < tile.rows && range(end) == std::pair(from, to);) ++end;
      if (from >= to) continue;
      const int64_t skipped = from - here->begin, head = r * config.group(), heads = (end - r) * config.group();
      const AttentionTokens seen = {here->k + skipped, here->v + skipped, static_cast<int>(to - from),
                                    next->k,           next->v,           r == 0 ? static_cast<int>(next->count()) : 0};
      attend(scratch.q + head * dim, dim, static_cast<int>(heads), seen, dim, config.scale, config.softcap,
             running.states + head, running.out + head * dim, dim);
    }
  }
}

// The segments of the tokens that a tile sees.
struct Segments {
  int64_t first, last;  // tokens
  Segments(const AttentionConfig& config, const QueryTile& tile)
      : first(tile.begin_of(config, 0)), last(tile.end_of(config, tile.rows - 1)) {}
  int64_t count() const { return last <= first ? 0 : (last - 1) / kSegmentTokens - first / kSegmentTokens + 1; }
  Segment operator[](int64_t i) const {
    const int64_t begin = (first / kSegmentTokens + i) * kSegmentTokens;
    return {std::max(first, begin), std::min(last, begin + kSegmentTokens), last};
  }
};

// The tile's queries through all they see, into scratch.total.
template <class SpanAt>
void attend_tile(const Kernels& cpu, const AttentionConfig& config, DType cache, const QueryTile& tile,
                 const TileScratch& scratch, SpanAt&& span_at) {
  const Segments segments(config, tile);
  const int64_t queries = tile.rows * config.group();
  if (segments.count() == 0) clear(config, queries, scratch.total);
  for (int64_t i = 0; i < segments.count(); ++i) {
    const Running& running = i == 0 ? scratch.total : scratch.part;
    attend_segment(cpu, config, cache, tile, segments[i], scratch, running, span_at);
    if (i > 0) merge(cpu, config, queries, scratch.total, scratch.part);
  }
}

// Runs body(tile) for each tile of the rows of `sequence` and each kv head.
template <class F>
void each_tile_of(const QueryTile& sequence, int64_t kv_heads, F&& body) {
  for (int64_t r = 0; r < sequence.rows; r += kTileQueries) {
    for (int64_t h = 0; h < kv_heads; ++h) {
      QueryTile tile = sequence;
      tile.first_row += r;
      tile.position += r;
      tile.rows = std::min(kTileQueries, sequence.rows - r);
      tile.kv_head = h;
      body(tile);
    }
  }
}

// Pieces of work in one order that every worker walks through, taking the next one that nobody has: whoever is late
// takes fewer. Each worker brings its own Turn of one shared counter.
class Turn {
 public:
  explicit Turn(std::atomic<int64_t>& next) : next_(next), mine_(next.fetch_add(1, std::memory_order_relaxed)) {}
  // Called once per piece, in order. True: it is this worker's.
  bool taken() {
    if (at_++ != mine_) return false;
    mine_ = next_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  std::atomic<int64_t>& next_;
  int64_t mine_, at_ = 0;
};

}  // namespace nxrt::ops
