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

struct Paged {
  const Kernels& cpu;
  AttentionConfig config;
  int64_t layer;

  int64_t workspace(int width) const { return float_bytes(config.heads) + width * TileScratch::bytes(config); }

  void run(const Args& args, Workers& workers) const {
    const PagedStep& step = *args.paged;
    Projections p = Projections::of(args, config);
    if (config.do_rotary) p.rotary = Rotary::of(cpu, args, kCos, config.interleaved);
    if (args.has(kNorm)) {
      p.norm_dtype = args.dtype(kNorm);
      p.q_norm = args.in(kNorm).p;
      p.k_norm = args.in(kNorm + 1).p;
    }
    const float* sinks = args.has(kSink)
                             ? as_floats(cpu, args.dtype(kSink), args.in(kSink), 0, config.heads, args.workspace())
                             : nullptr;
    ledger().record("PagedAttention", name_of(step.dtype), name_of(cpu.isa), workers.width());

    // A sequence's rows see each other's keys, so all are stored before any attends. When every sequence has one row,
    // a kv head's key is needed by that head's query alone, and one pass does both.
    bool single = true;
    for (const PagedSequence& s : step.sequences) single &= s.rows == 1;
    if (!single) workers.everyone([&](int worker) { append_all(args, p, worker, workers.width()); });
    workers.everyone([&](int worker) {
      const TileScratch scratch = scratch_of(args, worker);
      int64_t turn = 0;
      for (const PagedSequence& s : step.sequences) {
        const SequenceCache cache = {step, step.layers[static_cast<size_t>(layer)], s};
        const QueryTile rows = {s.first_row, s.rows, s.past, s.past + s.rows, 0};
        each_tile_of(rows, config.kv_heads, turn, worker, workers.width(), [&](const QueryTile& tile) {
          if (single) append(p, cache, 0, tile.kv_head, scratch.rows);
          load_tile(cpu, config, p, tile, scratch, [&](int64_t r) { return tile.position + r; });
          attend_tile(cpu, config, step.dtype, tile, scratch, [&](int64_t t) { return cache.span(tile.kv_head, t); });
          finish_tile(cpu, config, tile, sinks, scratch, {args.out_dtype(0), args.out(0).p});
        });
      }
    });
  }

 private:
  TileScratch scratch_of(const Args& args, int worker) const {
    std::byte* base = args.workspace(float_bytes(config.heads) + worker * TileScratch::bytes(config));
    return {config, base};
  }

  void append(const Projections& p, const SequenceCache& cache, int64_t r, int64_t head, float* rows) const {
    const int64_t position = cache.sequence.past + r;
    append_token(cpu, config, p, cache.sequence.first_row + r, head, position, cache.slot(head, position), rows);
  }

  void append_all(const Args& args, const Projections& p, int worker, int width) const {
    const PagedStep& step = *args.paged;
    const TileScratch scratch = scratch_of(args, worker);
    for (const PagedSequence& s : step.sequences) {
      const SequenceCache cache = {step, step.layers[static_cast<size_t>(layer)], s};
      for (int64_t r = s.rows * worker / width; r < s.rows * (worker + 1) / width; ++r) {
        for (int64_t h = 0; h < config.kv_heads; ++h) append(p, cache, r, h, scratch.rows);
      }
    }
  }
};

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
