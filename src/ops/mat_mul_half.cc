// nxrt MatMulHalf: y = A · W with f32 activations and constant weights in f16 or bf16, which stay in their type: half
// of f32's memory, widened as they are read. W is [k, n], or [n, k] with transB. The pass fuse_half_weights makes it of
// MatMul(A, Cast(W)).
#include <fmt/format.h>

#include "base/dispatch_ledger.h"
#include "ops/support/matrix.h"

namespace nxrt::ops {
namespace {

bool transposed(const NodeView& node) { return node.i64("transB", 0) != 0; }

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 2);
  node.expect_dtype(0, DType::f32);
  node.expect_dtype(1, {DType::f16, DType::bf16});
  node.expect_rank(1, 2);
  if (!node.has_shape(0)) return {{DType::f32, {}, {}}};
  const SymShape &a = node.shape(0), &w = node.shape(1);
  if (a.rank() == 0) node.fail("a scalar has no matrix product");
  const Dim &k = w[transposed(node) ? 1 : 0], &n = w[transposed(node) ? 0 : 1];
  if (contradict(a[a.rank() - 1], k)) {
    node.fail(fmt::format("input 1 has shape {}, expected {} weights per output as input 0 has shape {}", w.text(),
                          a[a.rank() - 1].text(), a.text()));
  }
  SymShape y = a;
  y[y.rank() - 1] = n;
  return {{.dtype = DType::f32, .shape = y}};
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const std::shared_ptr<const PackedFloats> packed = pack_constant(node, 1, transposed(node), with);
  if (!packed) node.unsupported("the weights are no constant matrix, expected an initializer of at least one element");
  Kernel kernel = [&cpu = with.cpu, packed](const Args& args, Workers& workers) {
    ledger().record("MatMulHalf", route_of(packed.get()), name_of(cpu.isa), workers.width());
    const Shape& a = args.shape(0);
    multiply_packed(cpu, args.in(0), a.count(0, a.rank() - 1), *packed, args.out(0), workers);
  };
  kernel.packed_inputs = {1};
  kernel.packed_bytes = packed->bytes();
  return kernel;
}

}  // namespace

std::span<const OpDef> mat_mul_half() {
  static constexpr OpDef kTable[] = {{.domain = "nxrt", .name = "MatMulHalf", .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
