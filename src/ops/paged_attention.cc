// nxrt PagedAttention (internal): grouped-query attention of the packed rows of one step over block-cached sequences.
// Inputs: q [1, T, H·D] (or packed QKV with k and v omitted), k, v [1, T, KV·D]; cos_cache?, sin_cache? [positions,
// rotary/2]; head_sink? [H]; q_norm_weight?, k_norm_weight? [D]. Output [1, T, H·D].
// Attributes: those of com.microsoft GroupQueryAttention, and `layer`, the index into PagedStep::layers.
// Each row's key (rotated at its position) and value go into its sequence's block, then the row attends to the blocks
// up to its position, in order from the first it sees.
#include <fmt/format.h>

#include <array>

#include "base/dispatch_ledger.h"
#include "ops/op.h"
#include "ops/paged_step.h"
#include "ops/support/attention.h"
#include "ops/support/float_rows.h"

namespace nxrt::ops {
namespace {

constexpr int kCos = 3, kSink = 5, kNorm = 6;

AttentionConfig config_of(const NodeView& node) {
  const SymShape& q = node.shape(0);
  const auto width = q[q.rank() - 1].constant();
  if (!width) node.unsupported("the last dim of input 0 is not known");
  AttentionConfig config(node, *width, !node.has_input(1));
  config.norm_epsilon = node.f32("qk_norm_epsilon", 1e-6f);
  return config;
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(1, 8);
  node.expect_rank(0, 3);
  node.expect_dtype(0, kRowDTypes);
  const AttentionConfig config = config_of(node);
  SymShape y = node.shape(0);
  for (const int i : {1, 2}) {
    if (!node.has_input(1)) break;
    node.expect_same_dtype(i, 0);
    node.expect_shape(i, {y[0], y[1], config.kv_heads * config.head_dim});
  }
  if (config.do_rotary) expect_rotary_caches(node, kCos, config.head_dim);
  if (node.has_input(kSink)) {
    node.expect_same_dtype(kSink, 0);
    node.expect_shape(kSink, {config.heads});
  }
  for (const int i : {kNorm, kNorm + 1}) {
    if (!node.has_input(kNorm)) break;
    node.expect_same_dtype(i, 0);
    node.expect_shape(i, {config.head_dim});
  }
  if (node.i64("layer") < 0) node.fail(fmt::format("layer is {}, expected at least 0", node.i64("layer")));
  y[2] = config.heads * config.head_dim;
  return {{.dtype = node.input(0).dtype, .shape = y}};
}

// One layer's keys and values of one sequence inside the pool.
struct SequenceCache {
  const PagedStep& step;
  const PagedLayer& layer;
  const PagedSequence& sequence;

  std::byte* block(int64_t token) const {
    return step.pool + sequence.blocks[token / step.block_tokens] * step.block_bytes;
  }
  int64_t element(int64_t head, int64_t token) const {
    return (head * step.block_tokens + token % step.block_tokens) * layer.head_dim;
  }
  CacheSlot slot(int64_t head, int64_t token) const {
    const int64_t at = element(head, token);
    return {step.dtype, block(token) + layer.k_offset, block(token) + layer.v_offset, at, at};
  }
  // From `token` to the end of its block.
  CacheSpan span(int64_t head, int64_t token) const {
    const int64_t size = step.dtype == DType::f16 ? 2 : 4, at = element(head, token) * size;
    return {block(token) + layer.k_offset + at, block(token) + layer.v_offset + at, layer.head_dim * size,
            step.block_tokens - token % step.block_tokens};
  }
};

// Partial results of segments, for steps whose few tiles see many tokens.
constexpr int64_t kPartialQueries = 1024;  // per worker

struct Paged {
  const Kernels& cpu;
  AttentionConfig config;
  int64_t layer;

  static int64_t partial_queries(int width) { return width > 1 ? width * kPartialQueries : 0; }
  // [sinks][per worker: tile scratch][partial accumulators][their states]
  int64_t workspace(int width) const {
    const int64_t partials = partial_queries(width);
    return float_bytes(config.heads) + width * TileScratch::bytes(config) + float_bytes(partials * config.head_dim) +
           float_bytes(2 * partials);
  }

  void run(const Args& args, Workers& workers) const;
};

std::string_view route_of(DType cache, bool cut) {
  if (!cut) return name_of(cache);
  return cache == DType::f16 ? "f16 in segments" : "f32 in segments";
}

// One run: the step's tiles, shared out whole or in segments.
class Run {
 public:
  Run(const Paged& op, const Args& args, int width)
      : cpu_(op.cpu),
        config_(op.config),
        step_(*args.paged),
        args_(args),
        width_(width),
        projections_(Projections::of(args, op.config)) {
    layer_ = &step_.layers[static_cast<size_t>(op.layer)];
    if (config_.do_rotary) projections_.rotary = Rotary::of(cpu_, args, kCos, config_.interleaved);
    if (args.has(kNorm)) {
      projections_.norm_dtype = args.dtype(kNorm);
      projections_.q_norm = args.in(kNorm).p;
      projections_.k_norm = args.in(kNorm + 1).p;
    }
    if (args.has(kSink)) {
      sinks_ = as_floats(cpu_, args.dtype(kSink), args.in(kSink), 0, config_.heads, args.workspace());
    }
    const int64_t scratches = float_bytes(config_.heads) + width * TileScratch::bytes(config_);
    const int64_t partials = Paged::partial_queries(width);
    partials_.out = args.workspace(scratches);
    partials_.states = reinterpret_cast<AttentionState*>(partials_.out + float_bytes(partials * config_.head_dim) / 4);
  }

  void attend(Workers& workers) {
    // A sequence's rows see each other's keys, so all are stored before any attends. When every sequence has one row,
    // a kv head's key is needed by that head's query alone, and one pass does both.
    for (const PagedSequence& s : step_.sequences) single_ &= s.rows == 1;
    if (!single_) workers.everyone([this](int worker) { append_all(worker); });
    std::atomic<int64_t> next{0};
    const bool cut = worth_cutting();
    ledger().record("PagedAttention", route_of(step_.dtype, cut), name_of(cpu_.isa), width_);
    if (!cut) {
      workers.everyone([&](int worker) { attend_whole(worker, Turn(next)); });
      return;
    }
    workers.everyone([&](int worker) { attend_segments(worker, Turn(next)); });
    next = 0;
    workers.everyone([&](int) { merge_segments(Turn(next)); });
  }

 private:
  TileScratch scratch_of(int worker) const {
    return {config_, args_.workspace(float_bytes(config_.heads) + worker * TileScratch::bytes(config_))};
  }

  // body(tile, cache of its sequence), in one order.
  template <class F>
  void each_tile(F&& body) const {
    for (const PagedSequence& s : step_.sequences) {
      const SequenceCache cache = {step_, *layer_, s};
      const QueryTile rows = {s.first_row, s.rows, s.past, s.past + s.rows, 0};
      each_tile_of(rows, config_.kv_heads, [&](const QueryTile& tile) { body(tile, cache); });
    }
  }

  // Whether the longest tile would keep a worker longer than half its share, and the partial results have room.
  bool worth_cutting() const {
    if (width_ == 1) return false;
    int64_t all = 0, most = 0, longest = 0;
    each_tile([&](const QueryTile& tile, const SequenceCache&) {
      const int64_t segments = Segments(config_, tile).count(), cost = tile.rows * segments;
      all += cost, most = std::max(most, cost), longest = std::max(longest, segments);
    });
    return longest > 1 && 2 * most * width_ > all && all * config_.group() <= Paged::partial_queries(width_);
  }

  void append(const SequenceCache& cache, int64_t r, int64_t head, float* rows) const {
    const int64_t position = cache.sequence.past + r;
    append_token(cpu_, config_, projections_, cache.sequence.first_row + r, head, position, cache.slot(head, position),
                 rows);
  }

  void append_all(int worker) const {
    const TileScratch scratch = scratch_of(worker);
    for (const PagedSequence& s : step_.sequences) {
      const SequenceCache cache = {step_, *layer_, s};
      for (int64_t r = s.rows * worker / width_; r < s.rows * (worker + 1) / width_; ++r) {
        for (int64_t h = 0; h < config_.kv_heads; ++h) append(cache, r, h, scratch.rows);
      }
    }
  }

  void load(const QueryTile& tile, const TileScratch& scratch) const {
    load_tile(cpu_, config_, projections_, tile, scratch, [&](int64_t r) { return tile.position + r; });
  }
  void finish(const QueryTile& tile, const Running& total) const {
    finish_tile(cpu_, config_, tile, sinks_, total, {args_.out_dtype(0), args_.out(0).p});
  }

  void attend_whole(int worker, Turn turn) const {
    const TileScratch scratch = scratch_of(worker);
    each_tile([&](const QueryTile& tile, const SequenceCache& cache) {
      if (!turn.taken()) return;
      if (single_) append(cache, 0, tile.kv_head, scratch.rows);
      load(tile, scratch);
      attend_tile(cpu_, config_, step_.dtype, tile, scratch, [&](int64_t t) { return cache.span(tile.kv_head, t); });
      finish(tile, scratch.total);
    });
  }

  // body(tile, cache, its segments, number of its first partial query), in one order.
  template <class F>
  void each_cut_tile(F&& body) const {
    int64_t first = 0;
    each_tile([&](const QueryTile& tile, const SequenceCache& cache) {
      const Segments segments(config_, tile);
      body(tile, cache, segments, first);
      first += segments.count() * tile.rows * config_.group();
    });
  }
  Running partial(int64_t query) const { return {partials_.out + query * config_.head_dim, partials_.states + query}; }

  void attend_segments(int worker, Turn turn) const {
    const TileScratch scratch = scratch_of(worker);
    each_cut_tile([&](const QueryTile& tile, const SequenceCache& cache, const Segments& segments, int64_t first) {
      const int64_t queries = tile.rows * config_.group();
      for (int64_t i = 0; i < segments.count(); ++i) {
        if (!turn.taken()) continue;
        if (single_ && i + 1 == segments.count()) append(cache, 0, tile.kv_head, scratch.rows);
        load(tile, scratch);
        attend_segment(cpu_, config_, step_.dtype, tile, segments[i], scratch, partial(first + i * queries),
                       [&](int64_t t) { return cache.span(tile.kv_head, t); });
      }
    });
  }

  void merge_segments(Turn turn) const {
    each_cut_tile([&](const QueryTile& tile, const SequenceCache&, const Segments& segments, int64_t first) {
      if (!turn.taken()) return;
      const int64_t queries = tile.rows * config_.group();
      const Running total = partial(first);
      for (int64_t i = 1; i < segments.count(); ++i) {
        merge(cpu_, config_, queries, total, partial(first + i * queries));
      }
      finish(tile, total);
    });
  }

  const Kernels& cpu_;
  const AttentionConfig& config_;
  const PagedStep& step_;
  const Args& args_;
  int width_;
  const PagedLayer* layer_;
  Projections projections_;
  const float* sinks_ = nullptr;
  Running partials_{};
  bool single_ = true;
};

void Paged::run(const Args& args, Workers& workers) const { Run(*this, args, workers.width()).attend(workers); }

Kernel prepare(const NodeView& node, Prepare& with) {
  const Paged op = {with.cpu, config_of(node), node.i64("layer")};
  Kernel kernel = [op](const Args& args, Workers& workers) { op.run(args, workers); };
  kernel.workspace = [op](const Args&, int width) { return op.workspace(width); };
  return kernel;
}

// It writes the pool, so two equal nodes are not one.
const std::array kOps = {
    OpDef{.domain = "nxrt", .name = "PagedAttention", .infer = infer, .prepare = prepare, .pure = false}};
}  // namespace

std::span<const OpDef> paged_attention() { return kOps; }

}  // namespace nxrt::ops
