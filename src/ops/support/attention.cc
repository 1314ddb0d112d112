#include "ops/support/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/support/float_rows.h"

namespace nxrt::ops {

AttentionConfig::AttentionConfig(const NodeView& node, int64_t query_width, bool packed)
    : heads(node.i64("num_heads")),
      kv_heads(node.i64("kv_num_heads")),
      scale(node.f32("scale", 0.0f)),
      softcap(node.f32("softcap", 0.0f)),
      causal(node.i64("causal", 1) != 0),
      smooth_softmax(node.i64("smooth_softmax", -1) > 0),
      do_rotary(node.i64("do_rotary", 0) != 0),
      interleaved(node.i64("rotary_interleaved", 0) != 0) {
  if (heads < 1 || kv_heads < 1 || heads % kv_heads != 0) {
    node.fail(fmt::format("num_heads is {} and kv_num_heads {}, expected a positive multiple", heads, kv_heads));
  }
  const int64_t parts = packed ? heads + 2 * kv_heads : heads;
  if (query_width < parts || query_width % parts != 0) {
    node.fail(fmt::format("input 0 has {} columns, expected a multiple of {} heads", query_width, parts));
  }
  head_dim = query_width / parts;
  if (scale == 0.0f) scale = 1.0f / std::sqrt(static_cast<float>(head_dim));
  if (softcap < 0.0f) node.fail(fmt::format("softcap is {}, expected at least 0", softcap));
  window = std::max<int64_t>(0, node.i64("local_window_size", -1));
  if (window > 0 && !causal) node.fail("local_window_size is set with causal = 0, expected -1");
}

Projections Projections::of(const Args& args, const AttentionConfig& config) {
  const int64_t q = config.heads * config.head_dim, kv = config.kv_heads * config.head_dim;
  const DType dtype = args.dtype(0);
  Projections p;
  if (args.has(1)) {
    p.q = {dtype, args.in(0).p, 0, q};
    p.k = {dtype, args.in(1).p, 0, kv};
    p.v = {dtype, args.in(2).p, 0, kv};
  } else {
    p.q = {dtype, args.in(0).p, 0, q + 2 * kv};
    p.k = {dtype, args.in(0).p, q, q + 2 * kv};
    p.v = {dtype, args.in(0).p, q + kv, q + 2 * kv};
  }
  return p;
}

int64_t TileScratch::bytes(const AttentionConfig& config) {
  const int64_t queries = kTileQueries * config.group();
  return 3 * float_bytes(queries * config.head_dim) + 2 * float_bytes(2 * queries) + float_bytes(5 * config.head_dim);
}

TileScratch::TileScratch(const AttentionConfig& config, std::byte* at) {
  const int64_t queries = kTileQueries * config.group();
  const auto take = [&](int64_t floats) {
    return reinterpret_cast<float*>(std::exchange(at, at + float_bytes(floats)));
  };
  q = take(queries * config.head_dim);
  for (Running* running : {&total, &part}) {
    running->out = take(queries * config.head_dim);
    running->states = reinterpret_cast<AttentionState*>(take(2 * queries));
  }
  rows = take(5 * config.head_dim);
}

namespace {

// Row `row`, head `head` as floats: the projection itself, or `scratch`.
const float* head_row(const Kernels& cpu, const HeadRows& from, int64_t row, int64_t head, int64_t dim,
                      float* scratch) {
  return as_floats(cpu, from.dtype, from.data, from.offset + row * from.stride + head * dim, dim, scratch);
}

}  // namespace

void load_query(const Kernels& cpu, const AttentionConfig& config, const Projections& p, int64_t row, int64_t head,
                int64_t position, float* y, float* rows) {
  const int64_t dim = config.head_dim;
  const float* x = head_row(cpu, p.q, row, head, dim, rows);
  if (p.q_norm) {
    cpu.rms_norm(x, as_floats(cpu, p.norm_dtype, p.q_norm, 0, dim, rows + dim), y, dim, config.norm_epsilon);
    x = y;
  }
  p.rotary.apply(x, y, dim, position, rows + 2 * dim);
}

void append_token(const Kernels& cpu, const AttentionConfig& config, const Projections& p, int64_t row, int64_t head,
                  int64_t position, const CacheSlot& slot, float* rows) {
  const int64_t dim = config.head_dim;
  float* y = rows + 4 * dim;
  const float* x = head_row(cpu, p.k, row, head, dim, rows);
  if (p.k_norm) {
    cpu.rms_norm(x, as_floats(cpu, p.norm_dtype, p.k_norm, 0, dim, rows + dim), y, dim, config.norm_epsilon);
    x = y;
  }
  p.rotary.apply(x, y, dim, position, rows + 2 * dim);
  store_floats(cpu, slot.dtype, y, slot.k, slot.k_at, dim);
  store_floats(cpu, slot.dtype, head_row(cpu, p.v, row, head, dim, rows), slot.v, slot.v_at, dim);
}

void clear(const AttentionConfig& config, int64_t queries, const Running& running) {
  std::fill_n(running.out, queries * config.head_dim, 0.0f);
  std::fill_n(running.states, queries, AttentionState());
}

void merge(const Kernels& cpu, const AttentionConfig& config, int64_t queries, const Running& total,
           const Running& part) {
  const int64_t dim = config.head_dim;
  for (int64_t i = 0; i < queries; ++i) {
    AttentionState& all = total.states[i];
    const AttentionState& more = part.states[i];
    const float top = std::max(all.max, more.max);
    if (top == -INFINITY && more.sum == 0.0f) continue;  // it saw nothing, or nothing of weight
    const float shrink = all.max == top ? 1.0f : std::exp(all.max - top);
    const float weight = more.max == top ? 1.0f : std::exp(more.max - top);
    all = {top, all.sum * shrink + more.sum * weight};
    float* out = total.out + i * dim;
    if (shrink != 1.0f) cpu.binary[static_cast<int>(Binary::mul)](out, 1, &shrink, 0, out, dim);
    cpu.axpy(weight, part.out + i * dim, out, dim);
  }
}

void finish_tile(const Kernels& cpu, const AttentionConfig& config, const QueryTile& tile, const float* sinks,
                 const Running& total, const AttentionOutput& y) {
  const int64_t group = config.group(), dim = config.head_dim;
  for (int64_t i = 0; i < tile.rows * group; ++i) {
    const int64_t head = tile.kv_head * group + i % group;
    const AttentionState& state = total.states[i];
    float shrink = 1.0f, sum = state.sum;
    if (sinks || config.smooth_softmax) {
      const float sink = sinks ? sinks[head] : 0.0f, top = std::max(state.max, sink);
      shrink = std::exp(state.max - top);
      sum = sum * shrink + std::exp(sink - top);
    }
    const float factor = sum > 0.0f ? shrink / sum : (sum == 0.0f ? 0.0f : sum);  // NaN stays NaN
    float* out = total.out + i * dim;
    cpu.binary[static_cast<int>(Binary::mul)](out, 1, &factor, 0, out, dim);
    const int64_t row = tile.first_row + i / group;
    store_floats(cpu, y.dtype, out, y.data, (row * config.heads + head) * dim, dim);
  }
}

}  // namespace nxrt::ops
