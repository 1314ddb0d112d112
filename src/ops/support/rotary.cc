#include "ops/support/rotary.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/support/float_rows.h"

namespace nxrt::ops {

Rotary Rotary::of(const Kernels& cpu, const Args& args, int cos_input, bool interleaved) {
  const Shape& shape = args.shape(cos_input);
  return {&cpu, args.dtype(cos_input), args.in(cos_input).p, args.in(cos_input + 1).p, shape[0], shape[1], interleaved};
}

void Rotary::apply(const float* x, float* y, int64_t dim, int64_t position, float* scratch) const {
  if (positions == 0) {
    std::copy_n(x, x == y ? 0 : dim, y);
    return;
  }
  const int64_t row = std::clamp<int64_t>(position, 0, positions - 1) * half;
  const float* c = as_floats(*cpu, dtype, cos, row, half, scratch);
  const float* s = as_floats(*cpu, dtype, sin, row, half, scratch + half);
  cpu->rope(x, c, s, y, dim, 2 * half, interleaved);
}

void expect_rotary_caches(const NodeView& node, int cos_input, int64_t head_dim) {
  node.expect_rank(cos_input, 2);
  node.expect_dtype(cos_input, kRowDTypes);
  node.expect_same_dtype(cos_input + 1, cos_input);
  node.expect_shape(cos_input + 1, node.shape(cos_input));
  const auto half = node.shape(cos_input)[1].constant();
  if (!half) node.unsupported("the width of cos_cache is not known", "export the model with constant rotary caches");
  if (2 * *half > head_dim) {
    node.fail(fmt::format("input {} (cos_cache) has shape {}, expected at most {} columns for heads of {}", cos_input,
                          node.shape(cos_input).text(), head_dim / 2, head_dim));
  }
}

}  // namespace nxrt::ops
