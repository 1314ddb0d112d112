// com.microsoft MultiHeadAttention, with query, key and value apart.
// Inputs: 0 query [B, S, H·D]; 1 key [B, L, H·D] or [B, H, L, D]; 2 value [B, L, H·Dv] or [B, H, L, Dv]; 3 bias?
// [H·D + H·D + H·Dv]; 4 key_padding_mask? i32: [B] lengths, [B, T] or [B, S, T] flags; 5 attention_bias? [B|1, H|1, S,
// T]; 6, 7 past_key?, past_value? [B, H, P, D]. T = P + L. Outputs: 0 [B, S, H·Dv]; 1, 2 present [B, H, T, D].
// scores = q·k·scale + attention_bias + mask (mask_filter_value where the mask is 0); unidirectional hides later
// tokens.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ops/op.h"
#include "ops/support/float_rows.h"

namespace nxrt::ops {
namespace {

constexpr int kQuery = 0, kKey = 1, kValue = 2, kBias = 3, kMask = 4, kScoreBias = 5, kPast = 6;
constexpr int64_t kRows = 16;  // query rows per matrix product

int64_t head_dim(const NodeView& node, int input, int64_t heads) {
  const SymShape& shape = node.shape(input);
  const auto width = shape[shape.rank() - 1].constant();
  if (!width) node.unsupported(fmt::format("the last dim of input {} is not known", input));
  if (shape.rank() == 4) return *width;
  if (*width % heads != 0)
    node.fail(fmt::format("input {} has {} columns, expected a multiple of {} heads", input, *width, heads));
  return *width / heads;
}

struct Config {
  int64_t heads, dim, value_dim;
  float scale, mask_value;
  bool unidirectional;

  explicit Config(const NodeView& node) : heads(node.i64("num_heads")) {
    if (heads < 1) node.fail(fmt::format("num_heads is {}, expected at least 1", heads));
    node.expect_rank(kQuery, 3);
    dim = head_dim(node, kQuery, heads);
    value_dim = head_dim(node, kValue, heads);
    scale = node.f32("scale", 0.0f);
    if (scale == 0.0f) scale = 1.0f / std::sqrt(static_cast<float>(dim));
    mask_value = node.f32("mask_filter_value", -10000.0f);
    unidirectional = node.i64("unidirectional", 0) != 0;
  }
};

Dim tokens_of(const SymShape& kv) { return kv[kv.rank() == 4 ? 2 : 1]; }

void refuse_unsupported(const NodeView& node) {
  if (!node.has_input(kKey) || !node.has_input(kValue) || node.rank(kQuery) == 5 || node.rank(kKey) == 5) {
    node.unsupported("query, key and value are packed together, expected three inputs");
  }
  for (const int i : {8, 9}) {
    if (node.has_input(i))
      node.unsupported(fmt::format("input {} (shared or beam-indexed cache) is given, expected none", i));
  }
  if (node.has_output(3)) node.unsupported("output 3 (qk) is asked for, expected none");
}

void expect_optional_inputs(const NodeView& node, const Config& c, const Dim& total) {
  const SymShape& q = node.shape(kQuery);
  if (node.has_input(kBias)) {
    node.expect_same_dtype(kBias, kQuery);
    node.expect_shape(kBias, {c.heads * (2 * c.dim + c.value_dim)});
  }
  if (node.has_input(kMask)) {
    node.expect_dtype(kMask, DType::i32);
    const int rank = node.rank(kMask);
    if (rank < 1 || rank > 3)
      node.fail(fmt::format("input 4 (key_padding_mask) has rank {}, expected 1, 2 or 3", rank));
    node.expect_shape(kMask, rank == 1   ? SymShape{q[0]}
                             : rank == 2 ? SymShape{q[0], total}
                                         : SymShape{q[0], q[1], total});
  }
  if (node.has_input(kScoreBias)) {
    node.expect_same_dtype(kScoreBias, kQuery);
    node.expect_shape(kScoreBias, {Dim(), Dim(), q[1], total});
  }
  for (const int i : {kPast, kPast + 1}) {
    if (!node.has_input(kPast)) break;
    node.expect_same_dtype(i, kQuery);
    node.expect_shape(i, {q[0], c.heads, node.shape(kPast)[2], i == kPast ? c.dim : c.value_dim});
  }
}

std::vector<TensorType> infer(const NodeView& node) {
  refuse_unsupported(node);
  node.expect_inputs(3, 10);
  node.expect_dtype(kQuery, kRowDTypes);
  const Config c(node);
  const SymShape& q = node.shape(kQuery);
  const Dim length = tokens_of(node.shape(kKey));
  for (const int i : {kKey, kValue}) {
    node.expect_same_dtype(i, kQuery);
    const int64_t dim = i == kKey ? c.dim : c.value_dim;
    node.expect_shape(i,
                      node.rank(i) == 4 ? SymShape{q[0], c.heads, length, dim} : SymShape{q[0], length, c.heads * dim});
  }
  const Dim total = node.has_input(kPast) ? node.shape(kPast)[2] + length : length;
  expect_optional_inputs(node, c, total);
  const DType dtype = node.input(kQuery).dtype;
  std::vector<TensorType> types = {{dtype, SymShape{q[0], q[1], c.heads * c.value_dim}, {}},
                                   {dtype, SymShape{q[0], c.heads, total, c.dim}, {}},
                                   {dtype, SymShape{q[0], c.heads, total, c.value_dim}, {}}};
  types.resize(static_cast<size_t>(std::min(node.outputs(), 3)));
  return types;
}

// Where things are for one run.
struct Layout {
  int64_t batch, rows, past, length, total;
  explicit Layout(const Args& args)
      : batch(args.shape(kQuery)[0]),
        rows(args.shape(kQuery)[1]),
        past(args.has(kPast) ? args.shape(kPast)[2] : 0),
        length(args.shape(kKey)[args.shape(kKey).rank() == 4 ? 2 : 1]),
        total(past + length) {}
};

// A worker's part of the workspace, and query rows [first, first + rows) of one head that it works on.
struct HeadTile {
  int64_t b, h, first, rows;
  float *keys, *values, *q, *scores, *y, *line;  // [T, D], [T, Dv], [kRows, D], [kRows, T], [kRows, Dv], one row
};

struct MultiHead {
  const Kernels& cpu;
  Config c;

  int64_t worker_floats(const Layout& l) const {
    const int64_t floats = (l.total + kRows) * (c.dim + c.value_dim) + kRows * l.total + widest(l);
    return round_up(floats, 16);
  }
  int64_t widest(const Layout& l) const { return std::max({c.dim, c.value_dim, l.total}); }

  HeadTile scratch_of(const Args& args, const Layout& l, int worker) const {
    float* at = static_cast<float*>(args.workspace()) + worker * worker_floats(l);
    const auto take = [&](int64_t floats) { return std::exchange(at, at + floats); };
    HeadTile tile = {};
    tile.keys = take(l.total * c.dim);
    tile.values = take(l.total * c.value_dim);
    tile.q = take(kRows * c.dim);
    tile.scores = take(kRows * l.total);
    tile.y = take(kRows * c.value_dim);
    tile.line = at;
    return tile;
  }

  void run(const Args& args, Workers& workers) const {
    const Layout l(args);
    workers.shards(l.batch * c.heads, 1, [&](int64_t begin, int64_t end, int worker) {
      HeadTile tile = scratch_of(args, l, worker);
      for (int64_t i = begin; i < end; ++i) {
        tile.b = i / c.heads;
        tile.h = i % c.heads;
        gather(args, l, kKey, tile, tile.keys);
        gather(args, l, kValue, tile, tile.values);
        for (tile.first = 0; tile.first < l.rows; tile.first += kRows) {
          tile.rows = std::min(kRows, l.rows - tile.first);
          attend(args, l, tile);
        }
      }
    });
  }

 private:
  // Row `t` of head `h` of the query, key or value of this step, with its part of the bias, into `to`.
  void load(const Args& args, int input, int64_t b, int64_t h, int64_t t, float* to) const {
    const int64_t dim = input == kValue ? c.value_dim : c.dim;
    const Shape& shape = args.shape(input);
    const bool heads_first = shape.rank() == 4;
    const int64_t at =
        heads_first ? ((b * c.heads + h) * shape[2] + t) * dim : ((b * shape[1] + t) * c.heads + h) * dim;
    const float* x = as_floats(cpu, args.dtype(input), args.in(input), at, dim, to);
    if (x != to) std::copy_n(x, dim, to);
    if (!args.has(kBias)) return;
    const int64_t from = input * c.heads * c.dim + h * dim;
    for (int64_t i = 0; i < dim; ++i) {
      float scratch;
      to[i] += *as_floats(cpu, args.dtype(kBias), args.in(kBias), from + i, 1, &scratch);
    }
  }

  // Past and new rows of one head as floats [T, dim]; the present output, when wanted, gets them too.
  void gather(const Args& args, const Layout& l, int input, const HeadTile& tile, float* to) const {
    const int64_t dim = input == kValue ? c.value_dim : c.dim, head = tile.b * c.heads + tile.h;
    const int past_input = input == kKey ? kPast : kPast + 1;
    for (int64_t t = 0; t < l.past; ++t) {
      const int64_t at = (head * l.past + t) * dim;
      const float* x = as_floats(cpu, args.dtype(past_input), args.in(past_input), at, dim, tile.line);
      std::copy_n(x, dim, to + t * dim);
    }
    for (int64_t t = 0; t < l.length; ++t) load(args, input, tile.b, tile.h, t, to + (l.past + t) * dim);
    if (!args.has_out(input)) return;
    store_floats(cpu, args.out_dtype(input), to, args.out(input), head * l.total * dim, l.total * dim);
  }

  void attend(const Args& args, const Layout& l, const HeadTile& tile) const {
    const int64_t rows = tile.rows;
    for (int64_t r = 0; r < rows; ++r) load(args, kQuery, tile.b, tile.h, tile.first + r, tile.q + r * c.dim);
    cpu.gemm_f32_plain(tile.q, c.dim, tile.keys, c.dim, true, tile.scores, l.total, rows, l.total, c.dim);
    for (int64_t r = 0; r < rows; ++r) {
      float* row = tile.scores + r * l.total;
      cpu.binary[static_cast<int>(Binary::mul)](row, 1, &c.scale, 0, row, l.total);
      add_bias(args, l, tile, tile.first + r, row);
      add_mask(args, l, tile.b, tile.first + r, row);
      cpu.softmax(row, row, l.total);
    }
    cpu.gemm_f32_plain(tile.scores, l.total, tile.values, c.value_dim, false, tile.y, c.value_dim, rows, c.value_dim,
                       l.total);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = ((tile.b * l.rows + tile.first + r) * c.heads + tile.h) * c.value_dim;
      store_floats(cpu, args.out_dtype(0), tile.y + r * c.value_dim, args.out(0), at, c.value_dim);
    }
  }

  void add_bias(const Args& args, const Layout& l, const HeadTile& tile, int64_t row, float* scores) const {
    if (!args.has(kScoreBias)) return;
    const Shape& shape = args.shape(kScoreBias);
    const int64_t matrix = (shape[0] == 1 ? 0 : tile.b) * shape[1] + (shape[1] == 1 ? 0 : tile.h);
    const int64_t at = (matrix * l.rows + row) * l.total;
    const float* bias = as_floats(cpu, args.dtype(kScoreBias), args.in(kScoreBias), at, l.total, tile.line);
    cpu.binary[static_cast<int>(Binary::add)](scores, 1, bias, 1, scores, l.total);
  }

  void add_mask(const Args& args, const Layout& l, int64_t b, int64_t row, float* scores) const {
    if (args.has(kMask)) {
      const int32_t* mask = args.in(kMask);
      const int rank = args.shape(kMask).rank();
      for (int64_t t = 0; t < l.total; ++t) {
        const bool seen = rank == 1 ? t < mask[b] : mask[((rank == 3 ? b * l.rows + row : b) * l.total) + t] != 0;
        if (!seen) scores[t] += c.mask_value;
      }
    }
    if (c.unidirectional && l.past + row + 1 < l.total) {
      std::fill(scores + l.past + row + 1, scores + l.total, -INFINITY);
    }
  }
};

Kernel prepare(const NodeView& node, Prepare& with) {
  const MultiHead op = {with.cpu, Config(node)};
  Kernel kernel = [op](const Args& args, Workers& workers) { op.run(args, workers); };
  kernel.workspace = [op](const Args& args, int width) { return width * op.worker_floats(Layout(args)) * 4; };
  return kernel;
}

const std::array kOps = {
    OpDef{.domain = "com.microsoft", .name = "MultiHeadAttention", .infer = infer, .prepare = prepare}};
}  // namespace

std::span<const OpDef> multi_head_attention() { return kOps; }

}  // namespace nxrt::ops
