#include "ops/support/matrix.h"

#include <cstring>

namespace nxrt::ops {

std::string_view route_of(const PackedFloats* packed) {
  if (packed == nullptr) return "plain";
  return packed->dtype == DType::f16 ? "packed f16" : packed->dtype == DType::bf16 ? "packed bf16" : "packed f32";
}

void multiply_packed(const Kernels& cpu, const float* a, int64_t m, const PackedFloats& w, float* c, Workers& workers) {
  if (w.panels() >= 2 * workers.width() || m < 2 * workers.width()) {
    workers.shards(w.panels(), 1,
                   [&](int64_t begin, int64_t end, int) { cpu.gemm_f32(a, w.k, m, w, begin, end, c, w.n); });
    return;
  }
  workers.shards(m, 8, [&](int64_t begin, int64_t end, int) {
    cpu.gemm_f32(a + begin * w.k, w.k, end - begin, w, 0, w.panels(), c + begin * w.n, w.n);
  });
}

void multiply_plain(const Kernels& cpu, const float* a, const float* b, float* c, const PlainProduct& p,
                    Workers& workers) {
  const int64_t ldb = p.ldb();
  if (p.m >= 8 * workers.width()) {
    workers.shards(p.m, 8, [&](int64_t begin, int64_t end, int) {
      cpu.gemm_f32_plain(a + begin * p.k, p.k, b, ldb, p.b_transposed, c + begin * p.n, p.n, end - begin, p.n, p.k);
    });
    return;
  }
  workers.shards(p.n, 64, [&](int64_t begin, int64_t end, int) {
    const float* columns = p.b_transposed ? b + begin * ldb : b + begin;
    cpu.gemm_f32_plain(a, p.k, columns, ldb, p.b_transposed, c + begin, p.n, p.m, end - begin, p.k);
  });
}

void widen(const Kernels& cpu, DType from, const void* x, float* y, int64_t count) {
  if (count == 0) return;
  switch (from) {
    case DType::f16: return cpu.half_to_float(static_cast<const Half*>(x), y, count);
    case DType::bf16: return cpu.bfloat16_to_float(static_cast<const BFloat16*>(x), y, count);
    default: std::memcpy(y, x, static_cast<size_t>(count) * sizeof(float));
  }
}

void narrow(const Kernels& cpu, const float* x, DType to, void* y, int64_t count) {
  if (count == 0) return;
  if (to == DType::f16) return cpu.float_to_half(x, static_cast<Half*>(y), count);
  cpu.float_to_bfloat16(x, static_cast<BFloat16*>(y), count);
}

std::shared_ptr<const PackedFloats> pack_constant(const NodeView& node, int i, bool transposed, Prepare& with) {
  const Tensor* b = node.constant(i);
  if (!b || b->shape().rank() != 2 || b->count() == 0) return nullptr;
  if (b->dtype() != DType::f32 && b->dtype() != DType::f16 && b->dtype() != DType::bf16) return nullptr;
  const FloatMatrix matrix{.data = b->raw(),
                           .dtype = b->dtype(),
                           .n = b->shape()[transposed ? 0 : 1],
                           .k = b->shape()[transposed ? 1 : 0],
                           .ld = b->shape()[1],
                           .transposed = transposed};
  return std::make_shared<PackedFloats>(pack_floats(matrix, with.workers));
}

}  // namespace nxrt::ops
