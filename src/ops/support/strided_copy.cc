#include "ops/support/strided_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace nxrt::ops {
namespace {

template <int kSize>
void copy_run(const std::byte* x, int64_t x_step, std::byte* y, int64_t y_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(y + i * y_step * kSize, x + i * x_step * kSize, kSize);
}

void copy_run(int64_t size, const std::byte* x, int64_t x_step, std::byte* y, int64_t y_step, int64_t n) {
  if (x_step == 1 && y_step == 1) {
    std::memcpy(y, x, static_cast<size_t>(n * size));
    return;
  }
  switch (size) {
    case 1: return copy_run<1>(x, x_step, y, y_step, n);
    case 2: return copy_run<2>(x, x_step, y, y_step, n);
    case 4: return copy_run<4>(x, x_step, y, y_step, n);
    case 8: return copy_run<8>(x, x_step, y, y_step, n);
    default: return copy_run<16>(x, x_step, y, y_step, n);
  }
}

// Merges neighbours that are one walk on both sides.
StridedCopy merged(const StridedCopy& c) {
  StridedCopy m;
  for (int d = 0; d < c.rank; ++d) {
    const size_t i = static_cast<size_t>(d);
    if (c.dims[i] == 1) continue;
    if (m.rank > 0) {
      const size_t last = static_cast<size_t>(m.rank - 1);
      if (m.from[last] == c.from[i] * c.dims[i] && m.to[last] == c.to[i] * c.dims[i]) {
        m.dims[last] *= c.dims[i];
        m.from[last] = c.from[i];
        m.to[last] = c.to[i];
        continue;
      }
    }
    m.add(c.dims[i], c.from[i], c.to[i]);
  }
  if (m.rank == 0) m.add(1, 1, 1);
  return m;
}

// Copies rows [begin, end) of the dims before the innermost.
void copy_rows(const StridedCopy& c, const std::byte* x, std::byte* y, int64_t size, int64_t begin, int64_t end) {
  const size_t inner = static_cast<size_t>(c.rank - 1);
  for (int64_t row = begin; row < end; ++row) {
    int64_t rest = row, from = 0, to = 0;
    for (size_t d = inner; d-- > 0;) {
      const int64_t index = rest % c.dims[d];
      rest /= c.dims[d];
      from += index * c.from[d];
      to += index * c.to[d];
    }
    copy_run(size, x + from * size, c.from[inner], y + to * size, c.to[inner], c.dims[inner]);
  }
}

}  // namespace

void StridedCopy::add(int64_t dim, int64_t from_stride, int64_t to_stride) {
  const size_t i = static_cast<size_t>(rank++);
  dims[i] = dim;
  from[i] = from_stride;
  to[i] = to_stride;
}

void StridedCopy::run(const void* source, void* target, int64_t size, Workers& workers) const {
  const std::byte* x = static_cast<const std::byte*>(source);
  std::byte* y = static_cast<std::byte*>(target);
  const StridedCopy c = merged(*this);
  int64_t rows = 1;
  for (int d = 0; d + 1 < c.rank; ++d) rows *= c.dims[static_cast<size_t>(d)];
  const size_t inner = static_cast<size_t>(c.rank - 1);
  const int64_t length = c.dims[inner];
  if (rows == 0 || length == 0) return;
  const int64_t per_shard = std::max<int64_t>(1, (int64_t{1} << 17) / std::max<int64_t>(1, size));  // elements
  if (rows == 1) {
    workers.shards(length, per_shard, [&](int64_t begin, int64_t end, int) {
      copy_run(size, x + begin * c.from[inner] * size, c.from[inner], y + begin * c.to[inner] * size, c.to[inner],
               end - begin);
    });
    return;
  }
  workers.shards(rows, per_shard / length + 1,
                 [&](int64_t begin, int64_t end, int) { copy_rows(c, x, y, size, begin, end); });
}

std::array<int64_t, Shape::kMaxRank> strides_of(const Shape& shape) {
  std::array<int64_t, Shape::kMaxRank> strides{};
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= shape[d];
  }
  return strides;
}

}  // namespace nxrt::ops
