// com.microsoft RotaryEmbedding: rotates each head of x by its token's position, from cached cosines and sines.
// Inputs: x [B, S, H·D] or [B, H, S, D]; position_ids [1] (of the first token) or [B, S]; cos_cache, sin_cache
// [positions, rotary/2].
#include <fmt/format.h>

#include <array>

#include "ops/op.h"
#include "ops/support/float_rows.h"
#include "ops/support/rotary.h"

namespace nxrt::ops {
namespace {

constexpr int kX = 0, kPositions = 1, kCos = 2;

int64_t head_dim_of(const NodeView& node) {
  const SymShape& x = node.shape(kX);
  const int64_t heads = node.i64("num_heads", 0);
  const auto width = x[x.rank() - 1].constant();
  if (x.rank() == 4 && width) return *width;
  if (node.i64("rotary_embedding_dim", 0) > 0) {  // then the caches don't tell the size of a head
    if (heads <= 0)
      node.fail(fmt::format("num_heads is {}, expected the number of heads beside rotary_embedding_dim", heads));
    if (!width) node.unsupported("the last dim of input 0 is not known");
    if (*width % heads != 0)
      node.fail(fmt::format("input 0 has {} columns, expected a multiple of num_heads {}", *width, heads));
    return *width / heads;
  }
  const auto half = node.shape(kCos)[1].constant();
  if (!half) node.unsupported("the width of cos_cache is not known", "export the model with constant rotary caches");
  return 2 * *half;
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(4, 4);
  node.expect_dtype(kX, kRowDTypes);
  node.expect_dtype(kPositions, {DType::i64, DType::i32});
  node.expect_rank(kCos, 2);
  const SymShape& x = node.shape(kX);
  if (x.rank() != 3 && x.rank() != 4) node.fail(fmt::format("input 0 has rank {}, expected 3 or 4", x.rank()));
  if (const float scale = node.f32("scale", 1.0f); scale != 1.0f) {
    node.unsupported(fmt::format("scale is {}, expected 1", scale), "fold the scale into the rotary caches");
  }
  const int64_t head_dim = head_dim_of(node);
  expect_rotary_caches(node, kCos, head_dim);
  const auto width = x[x.rank() - 1].constant();
  if (head_dim <= 0 || (width && *width % head_dim != 0)) {
    node.fail(fmt::format("input 0 has shape {}, expected whole heads of {}", x.text(), head_dim));
  }
  const SymShape& positions = node.shape(kPositions);
  const bool offset = positions.rank() <= 1 && !contradict(positions.count(), 1);
  if (!offset) node.expect_shape(kPositions, {x[0], x[x.rank() - 2]});
  return {{.dtype = node.input(kX).dtype, .shape = x}};
}

int64_t position_at(const Args& args, int64_t token, int64_t in_row) {
  const bool offset = args.shape(kPositions).rank() < 2;
  const int64_t i = offset ? 0 : token;
  const int64_t stored = args.dtype(kPositions) == DType::i64 ? static_cast<const int64_t*>(args.in(kPositions))[i]
                                                              : static_cast<const int32_t*>(args.in(kPositions))[i];
  return offset ? stored + in_row : stored;
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const int64_t dim = head_dim_of(node);
  const bool interleaved = node.i64("interleaved", 0) != 0;
  Kernel kernel = [&cpu = with.cpu, dim, interleaved](const Args& args, Workers& workers) {
    const Rotary rotary = Rotary::of(cpu, args, kCos, interleaved);
    const Shape& shape = args.shape(kX);
    const bool heads_first = shape.rank() == 4;
    const int64_t heads = heads_first ? shape[1] : shape[2] / dim, tokens = shape[heads_first ? 2 : 1];
    const int64_t line = float_bytes(2 * dim) / 4;
    workers.shards(shape[0] * tokens, 1, [&](int64_t begin, int64_t end, int worker) {
      float* scratch = static_cast<float*>(args.workspace()) + worker * 2 * line;
      for (int64_t t = begin; t < end; ++t) {
        const int64_t b = t / tokens, s = t % tokens, position = position_at(args, t, s);
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t at = (heads_first ? (b * heads + h) * tokens + s : t * heads + h) * dim;
          const float* x = as_floats(cpu, args.dtype(kX), args.in(kX), at, dim, scratch);
          float* y = float_target(args.out_dtype(0), args.out(0), at, scratch + dim);
          rotary.apply(x, y, dim, position, scratch + line);
          store_floats(cpu, args.out_dtype(0), y, args.out(0), at, dim);
        }
      }
    });
  };
  kernel.workspace = [dim](const Args&, int width) { return 2 * width * float_bytes(2 * dim); };
  kernel.in_place = kX;
  return kernel;
}

const std::array kOps = {
    OpDef{.domain = "com.microsoft", .name = "RotaryEmbedding", .infer = infer, .prepare = prepare}};
}  // namespace

std::span<const OpDef> rotary_embedding() { return kOps; }

}  // namespace nxrt::ops
