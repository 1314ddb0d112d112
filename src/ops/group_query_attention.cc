// com.microsoft GroupQueryAttention over past and present keys and values [B, KV, tokens, D].
// Inputs: 0 query [B, S, H·D] (or packed QKV with key and value omitted), 1 key, 2 value [B, S, KV·D], 3 past_key?,
// 4 past_value?, 5 seqlens_k [B] (tokens after this step − 1), 6 total_sequence_length (their maximum), 7 cos_cache?,
// 8 sin_cache?, 9 position_ids? [B, S], 10 attention_bias? [B|1, H|1, S, total], 11 head_sink? [H], 12–13 scales of a
// quantized cache (refused), 14 q_norm_weight?, 15 k_norm_weight? [D], 16 query_seqlens? [B] (rows that are not
// padding). Outputs: 0 [B, S, H·D]; 1, 2 present, as long as the longer of past and total. Rows that are padding give
// 0.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/dispatch_ledger.h"
#include "ops/op.h"
#include "ops/support/attention.h"
#include "ops/support/float_rows.h"

namespace nxrt::ops {
namespace {

constexpr int kPast = 3, kLengths = 5, kTotal = 6, kCos = 7, kPositions = 9, kBias = 10, kSink = 11, kScale = 12,
              kNorm = 14, kValid = 16;

AttentionConfig config_of(const NodeView& node) {
  const auto width = node.shape(0)[2].constant();
  if (!width) node.unsupported("the last dim of input 0 is not known");
  AttentionConfig config(node, *width, !node.has_input(1));
  config.norm_epsilon = node.f32("qk_norm_epsilon", 1e-6f);
  return config;
}

void refuse_unsupported(const NodeView& node) {
  if (node.i64("qk_output", 0) != 0 || node.has_output(3)) node.unsupported("output_qk is asked for, expected none");
  if (node.i64("sliding_window_cache", 0) != 0) {
    node.unsupported("sliding_window_cache is 1, expected 0", "export the model again with full-length caches");
  }
  for (const char* type : {"k_quant_type", "v_quant_type"}) {
    if (node.str(type, "NONE") != "NONE")
      node.unsupported(fmt::format("{} is {}, expected NONE", type, node.str(type)));
  }
  if (node.has_input(kScale) || node.has_input(kScale + 1)) {
    node.unsupported("the cache is quantized (inputs 12 and 13), expected f32 or f16");
  }
  if (node.has_input(kBias) && node.input(0).dtype != DType::f32) {
    node.unsupported("attention_bias (input 10) beside f16 tensors, expected f32");
  }
  if (node.f32("q_norm_epsilon", 1.0f) != node.f32("k_norm_epsilon", 1.0f)) {
    node.unsupported("q_norm_epsilon and k_norm_epsilon differ, expected one value");
  }
}

void expect_optional_inputs(const NodeView& node, const AttentionConfig& config) {
  const SymShape& q = node.shape(0);
  if (config.do_rotary) expect_rotary_caches(node, kCos, config.head_dim);
  if (node.has_input(kPositions)) node.expect_shape(kPositions, {q[0], q[1]});
  if (node.has_input(kBias)) {
    node.expect_same_dtype(kBias, 0);
    node.expect_shape(kBias, {Dim(), Dim(), q[1], Dim()});
    for (const auto& [axis, size] : {std::pair(0, q[0]), std::pair(1, Dim(config.heads))}) {
      const Dim& given = node.shape(kBias)[axis];
      if (given == Dim(1) || !contradict(given, size)) continue;
      node.fail(fmt::format("input 10 (attention_bias) has shape {}, expected [{}, {}, {}, total]",
                            node.shape(kBias).text(), q[0].text(), config.heads, q[1].text()));
    }
  }
  if (node.has_input(kSink)) {
    node.expect_same_dtype(kSink, 0);
    node.expect_shape(kSink, {config.heads});
  }
  if (node.has_input(kNorm) != node.has_input(kNorm + 1))
    node.fail("one of q_norm_weight and k_norm_weight, expected both");
  for (const int i : {kNorm, kNorm + 1}) {
    if (!node.has_input(i)) continue;
    node.expect_same_dtype(i, 0);
    node.expect_shape(i, {config.head_dim});
  }
  if (node.has_input(kValid)) node.expect_dtype(kValid, DType::i32);
}

// Tokens a present tensor holds.
Dim present_tokens(const NodeView& node) {
  const Dim past = node.has_input(kPast) ? node.shape(kPast)[2] : Dim(0);
  const auto total = node.elements(kTotal);
  if (!total || total->size() != 1) return {};
  const auto past_value = past.constant(), total_value = total->front().constant();
  if (past_value && total_value) return std::max(*past_value, *total_value);
  return past == total->front() || (past_value && *past_value == 0) ? total->front() : Dim();
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(1, 17);
  node.expect_dtype(0, {DType::f32, DType::f16});
  node.expect_rank(0, 3);
  const SymShape& q = node.shape(0);
  const AttentionConfig config = config_of(node);
  refuse_unsupported(node);
  if (node.has_input(1) != node.has_input(2)) node.fail("one of key and value is given, expected both or neither");
  for (const int i : {1, 2}) {
    if (!node.has_input(i)) continue;
    node.expect_same_dtype(i, 0);
    node.expect_shape(i, {q[0], q[1], config.kv_heads * config.head_dim});
  }
  for (const int i : {kPast, kPast + 1}) {
    if (!node.has_input(i)) continue;
    node.expect_same_dtype(i, 0);
    node.expect_shape(i, {q[0], config.kv_heads, Dim(), config.head_dim});
  }
  node.expect_dtype(kLengths, DType::i32);
  node.expect_dtype(kTotal, DType::i32);
  expect_optional_inputs(node, config);

  const DType dtype = node.input(0).dtype;
  const TensorType present = {dtype, SymShape{q[0], config.kv_heads, present_tokens(node), config.head_dim}, {}};
  std::vector<TensorType> types = {{dtype, SymShape{q[0], q[1], config.heads * config.head_dim}, {}}, present, present};
  types.resize(static_cast<size_t>(std::min(node.outputs(), 3)));
  return types;
}

int32_t i32_at(const Args& args, int input, int64_t i) { return static_cast<const int32_t*>(args.in(input))[i]; }

std::vector<Shape> resolve(const NodeView& node, const Args& args) {
  const AttentionConfig config = config_of(node);
  const Shape& q = args.shape(0);
  const int64_t total = i32_at(args, kTotal, 0), past = args.has(kPast) ? args.shape(kPast)[2] : 0;
  if (total < 1) node.fail(fmt::format("total_sequence_length is {}, expected at least 1", total));
  for (int64_t b = 0; b < args.shape(kLengths).count(); ++b) {
    const int64_t tokens = int64_t{i32_at(args, kLengths, b)} + 1;
    if (tokens < 0 || tokens > total) {
      node.fail(fmt::format("seqlens_k[{}] is {}, expected less than total_sequence_length {}", b, tokens - 1, total));
    }
  }
  const Shape present = {q[0], config.kv_heads, std::max(past, total), config.head_dim};
  std::vector<Shape> shapes = {{q[0], q[1], config.heads * config.head_dim}, present, present};
  shapes.resize(static_cast<size_t>(std::min(node.outputs(), 3)));
  return shapes;
}

// The present keys and values, in the outputs or, when those aren't wanted, in the workspace.
struct Cache {
  DType dtype;
  void *k, *v;
  int64_t heads, tokens, dim;  // [B, heads, tokens, dim]

  int64_t element(int64_t b, int64_t head, int64_t token) const { return ((b * heads + head) * tokens + token) * dim; }
};

struct Grouped {
  const Kernels& cpu;
  AttentionConfig config;

  static int64_t capacity(const Args& args) {
    if (args.has_out(1)) return args.out_shape(1)[2];
    return args.shape(0)[1] + (args.has(kPast) ? args.shape(kPast)[2] : 0);
  }
  int64_t own_cache_bytes(const Args& args) const {
    if (args.has_out(1) && args.has_out(2)) return 0;
    return round_up(args.shape(0)[0] * config.kv_heads * capacity(args) * config.head_dim * 4, 64);
  }
  // [sinks][present k and v when not outputs][per worker: tile scratch, scores]
  int64_t worker_bytes(const Args& args) const { return TileScratch::bytes(config) + float_bytes(capacity(args)); }
  int64_t workspace(const Args& args, int width) const {
    return float_bytes(config.heads) + 2 * own_cache_bytes(args) + width * worker_bytes(args);
  }

  // Rows of batch entry b that are not padding, and what came before them.
  QueryTile rows_of(const Args& args, const Cache& cache, int64_t b) const {
    const int64_t s = args.shape(0)[1];
    const int64_t tokens = std::clamp<int64_t>(int64_t{i32_at(args, kLengths, b)} + 1, 0, cache.tokens);
    int64_t rows = std::min(s, tokens);
    if (args.has(kValid)) rows = std::clamp<int64_t>(i32_at(args, kValid, b), 0, rows);
    return {b * s, rows, tokens - rows, tokens, 0};
  }

  void run(const Args& args, Workers& workers) const {
    Projections p = Projections::of(args, config);
    if (config.do_rotary) p.rotary = Rotary::of(cpu, args, kCos, config.interleaved);
    if (args.has(kNorm)) {
      p.norm_dtype = args.dtype(kNorm);
      p.q_norm = args.in(kNorm).p;
      p.k_norm = args.in(kNorm + 1).p;
    }
    const int64_t own = float_bytes(config.heads), own_bytes = own_cache_bytes(args);
    const Cache cache = {args.dtype(0),
                         args.has_out(1) ? args.out(1).p : args.workspace(own).p,
                         args.has_out(2) ? args.out(2).p : args.workspace(own + own_bytes).p,
                         config.kv_heads,
                         capacity(args),
                         config.head_dim};
    const float* sinks = args.has(kSink)
                             ? as_floats(cpu, args.dtype(kSink), args.in(kSink), 0, config.heads, args.workspace())
                             : nullptr;
    ledger().record("GroupQueryAttention", name_of(cache.dtype), name_of(cpu.isa), workers.width());

    workers.shards(args.shape(0)[0] * config.kv_heads, 1, [&](int64_t begin, int64_t end, int worker) {
      for (int64_t i = begin; i < end; ++i)
        fill_cache(args, p, cache, i / config.kv_heads, i % config.kv_heads, worker);
    });
    std::atomic<int64_t> next{0};
    workers.everyone([&](int worker) { attend_all(args, p, cache, sinks, worker, Turn(next)); });
  }

 private:
  std::byte* worker_bytes_of(const Args& args, int worker) const {
    return args.workspace(float_bytes(config.heads) + 2 * own_cache_bytes(args) + worker * worker_bytes(args));
  }

  int64_t position_of(const Args& args, const QueryTile& rows, int64_t r) const {
    if (!args.has(kPositions)) return rows.position + r;
    // A prompt's positions follow its first one.
    const int64_t* ids = args.in(kPositions);
    return rows.position == 0 && rows.rows > 1 ? ids[rows.first_row] + r : ids[rows.first_row + r];
  }

  // Past and new tokens of one kv head into the present; what lies beyond them becomes 0 in a buffer of our own.
  void fill_cache(const Args& args, const Projections& p, const Cache& cache, int64_t b, int64_t head,
                  int worker) const {
    const TileScratch scratch(config, worker_bytes_of(args, worker));
    const QueryTile rows = rows_of(args, cache, b);
    for (const int i : {0, 1}) copy_past(args, cache, i, b, head, rows);
    for (int64_t r = 0; r < rows.rows; ++r) {
      const int64_t at = cache.element(b, head, rows.position + r);
      append_token(cpu, config, p, rows.first_row + r, head, position_of(args, rows, r),
                   {cache.dtype, cache.k, cache.v, at, at}, scratch.rows);
    }
  }

  void copy_past(const Args& args, const Cache& cache, int i, int64_t b, int64_t head, const QueryTile& rows) const {
    const int64_t past = args.has(kPast + i) ? args.shape(kPast + i)[2] : 0;
    const int64_t size = bits_of(cache.dtype) / 8, kept = std::min(past, rows.position);
    const std::byte* from = args.in(kPast + i);
    std::byte* present = static_cast<std::byte*>(i == 0 ? cache.k : cache.v);
    if (from == present) return;  // one buffer, appended in place
    std::byte* to = present + cache.element(b, head, 0) * size;
    const int64_t bytes = kept * cache.dim * size;
    if (bytes > 0)
      std::memcpy(to, from + (b * cache.heads + head) * past * cache.dim * size, static_cast<size_t>(bytes));
    std::memset(to + bytes, 0, static_cast<size_t>((cache.tokens - kept) * cache.dim * size));
  }

  void attend_all(const Args& args, const Projections& p, const Cache& cache, const float* sinks, int worker,
                  Turn turn) const {
    const int64_t size = bits_of(cache.dtype) / 8, s = args.shape(0)[1], columns = config.heads * config.head_dim;
    std::byte* bytes = worker_bytes_of(args, worker);
    const TileScratch scratch(config, bytes);
    float* scores = reinterpret_cast<float*>(bytes + TileScratch::bytes(config));
    for (int64_t b = 0; b < args.shape(0)[0]; ++b) {
      const QueryTile rows = rows_of(args, cache, b);
      each_tile_of(rows, config.kv_heads, [&](const QueryTile& tile) {
        if (!turn.taken()) return;
        load_tile(cpu, config, p, tile, scratch,
                  [&](int64_t r) { return position_of(args, rows, tile.first_row - rows.first_row + r); });
        if (args.has(kBias)) {
          clear(config, tile.rows * config.group(), scratch.total);
          attend_biased(args, cache, b, tile, scratch, scores);
        } else {
          attend_tile(cpu, config, cache.dtype, tile, scratch, [&](int64_t t) -> CacheSpan {
            const int64_t at = cache.element(b, tile.kv_head, t) * size;
            return {static_cast<const std::byte*>(cache.k) + at, static_cast<const std::byte*>(cache.v) + at,
                    cache.dim * size, tile.tokens - t};
          });
        }
        finish_tile(cpu, config, tile, sinks, scratch.total, {args.out_dtype(0), args.out(0).p});
      });
      if (worker != 0) continue;
      const int64_t row = columns * bits_of(args.out_dtype(0)) / 8;
      std::fill_n(static_cast<std::byte*>(args.out(0)) + (b * s + rows.rows) * row, (s - rows.rows) * row,
                  std::byte{0});
    }
  }

  // score + bias[b, h, row, token], a softmax over all tokens seen at once.
  void attend_biased(const Args& args, const Cache& cache, int64_t b, const QueryTile& tile, const TileScratch& scratch,
                     float* scores) const {
    const Shape& shape = args.shape(kBias);
    const int64_t group = config.group(), dim = config.head_dim;
    const float* k = static_cast<const float*>(cache.k) + cache.element(b, tile.kv_head, 0);
    const float* v = static_cast<const float*>(cache.v) + cache.element(b, tile.kv_head, 0);
    for (int64_t i = 0; i < tile.rows * group; ++i) {
      const int64_t r = i / group, row = tile.first_row - b * args.shape(0)[1] + r;
      const int64_t head = shape[1] == 1 ? 0 : tile.kv_head * group + i % group;
      const int64_t entry = shape[0] == 1 ? 0 : b;
      const float* bias =
          static_cast<const float*>(args.in(kBias)) + ((entry * shape[1] + head) * shape[2] + row) * shape[3];
      const int64_t begin = tile.begin_of(config, r), end = std::min(tile.end_of(config, r), shape[3]);
      AttentionState& state = scratch.total.states[i];
      for (int64_t t = begin; t < end; ++t) {
        float score = cpu.dot(scratch.q + i * dim, k + t * dim, dim) * config.scale;
        if (config.softcap > 0.0f) score = config.softcap * std::tanh(score / config.softcap);
        scores[t] = score + bias[t];
        state.max = std::max(state.max, scores[t]);
      }
      for (int64_t t = begin; t < end && state.max > -INFINITY; ++t) {
        const float weight = std::exp(scores[t] - state.max);
        state.sum += weight;
        cpu.axpy(weight, v + t * dim, scratch.total.out + i * dim, dim);
      }
    }
  }
};

Kernel prepare(const NodeView& node, Prepare& with) {
  const Grouped op = {with.cpu, config_of(node)};
  Kernel kernel = [op](const Args& args, Workers& workers) { op.run(args, workers); };
  kernel.workspace = [op](const Args& args, int width) { return op.workspace(args, width); };
  return kernel;
}

const std::array kOps = {OpDef{
    .domain = "com.microsoft", .name = "GroupQueryAttention", .infer = infer, .prepare = prepare, .resolve = resolve}};
}  // namespace

std::span<const OpDef> group_query_attention() { return kOps; }

}  // namespace nxrt::ops
