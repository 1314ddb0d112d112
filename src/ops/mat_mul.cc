// MatMul, ai.onnx 1: numpy's matmul. A constant matrix on the right is packed once; f16 and bf16 compute in f32.
#include <fmt/format.h>

#include "base/dispatch_ledger.h"
#include "ops/support/infer.h"
#include "ops/support/matrix.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

using Exact = Types<double, int32_t, int64_t, uint32_t, uint64_t>;
using Allowed = decltype(Types<float, Half, BFloat16>{} + Exact{});

std::vector<Dim> leading(const SymShape& shape) {
  return {shape.dims().begin(), shape.dims().end() - std::min(2, shape.rank())};
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 2);
  expect_types(node, 0, Allowed{});
  node.expect_same_dtype(0, 1);
  if (!node.has_shape(0) || !node.has_shape(1)) return {{node.input(0).dtype, {}, {}}};
  const SymShape &a = node.shape(0), &b = node.shape(1);
  if (a.rank() == 0 || b.rank() == 0) node.fail("a scalar has no matrix product");
  const Dim &columns = a[a.rank() - 1], &rows = b.rank() == 1 ? b[0] : b[b.rank() - 2];
  if (contradict(columns, rows)) {
    node.fail(fmt::format("input 1 has shape {}, expected {} rows as input 0 has shape {}", b.text(), columns.text(),
                          a.text()));
  }
  std::vector<Dim> dims = broadcast(node, SymShape(leading(a)), SymShape(leading(b))).dims();
  if (a.rank() > 1) dims.push_back(a[a.rank() - 2]);
  if (b.rank() > 1) dims.push_back(b[b.rank() - 1]);
  return {{node.input(0).dtype, SymShape(dims), {}}};
}

// One product per matrix of the broadcast leading dims. A single matrix on the right takes all rows of the left at
// once.
struct Batch {
  PlainProduct product;
  int64_t count = 1;
  Shape leading_dims, a_dims, b_dims;

  explicit Batch(const Args& args);
  // First elements of matrix i of each operand.
  int64_t a_offset(int64_t i) const { return offset(i, a_dims) * product.m * product.k; }
  int64_t b_offset(int64_t i) const { return offset(i, b_dims) * product.k * product.n; }

 private:
  int64_t offset(int64_t i, const Shape& own) const;
};

Shape all_but_last_two(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<size_t>(std::max(0, shape.rank() - 2))));
}

Batch::Batch(const Args& args) {
  const Shape &a = args.shape(0), &b = args.shape(1);
  product.k = a[a.rank() - 1];
  product.n = b.rank() == 1 ? 1 : b[b.rank() - 1];
  if (b.rank() <= 2) {
    product.m = a.count(0, a.rank() - 1);
    return;
  }
  product.m = a.rank() == 1 ? 1 : a[a.rank() - 2];
  a_dims = all_but_last_two(a);
  b_dims = all_but_last_two(b);
  const int dropped = (a.rank() > 1) + 1;
  leading_dims = Shape(args.out_shape(0).dims().first(static_cast<size_t>(args.out_shape(0).rank() - dropped)));
  count = leading_dims.count();
}

int64_t Batch::offset(int64_t i, const Shape& own) const {
  int64_t index = 0, stride = 1;
  for (int d = leading_dims.rank() - 1; d >= 0; --d) {
    const int64_t coordinate = i % leading_dims[d];
    i /= leading_dims[d];
    const int at = d - (leading_dims.rank() - own.rank());
    if (at < 0) continue;
    if (own[at] != 1) index += coordinate * stride;
    stride *= own[at];
  }
  return index;
}

void multiply_all(const Kernels& cpu, const Batch& batch, const float* a, const float* b, float* c, Workers& workers) {
  const PlainProduct& p = batch.product;
  if (batch.count < workers.width()) {
    for (int64_t i = 0; i < batch.count; ++i) {
      multiply_plain(cpu, a + batch.a_offset(i), b + batch.b_offset(i), c + i * p.m * p.n, p, workers);
    }
    return;
  }
  workers.each(batch.count, [&](int64_t i) {
    cpu.gemm_f32_plain(a + batch.a_offset(i), p.k, b + batch.b_offset(i), p.ldb(), false, c + i * p.m * p.n, p.n, p.m,
                       p.n, p.k);
  });
}

// Float copies of what isn't float, in the workspace: a, then b (unless packed), then c.
struct Floats32 {
  int64_t a, b, c;
  Floats32(const Args& args, bool packed)
      : a(args.shape(0).count()), b(packed ? 0 : args.shape(1).count()), c(args.out_shape(0).count()) {}
  int64_t bytes() const { return (a + b + c) * 4; }
};

using Packed = std::shared_ptr<const PackedFloats>;

void record(const Kernels& cpu, const Packed& packed, Workers& workers) {
  ledger().record("MatMul", route_of(packed.get()), name_of(cpu.isa), workers.width());
}

void run_float(const Kernels& cpu, const Packed& packed, const Args& args, Workers& workers) {
  record(cpu, packed, workers);
  const Batch batch(args);
  if (packed) return multiply_packed(cpu, args.in(0), batch.product.m, *packed, args.out(0), workers);
  multiply_all(cpu, batch, args.in(0), args.in(1), args.out(0), workers);
}

void run_half(const Kernels& cpu, const Packed& packed, const Args& args, Workers& workers) {
  record(cpu, packed, workers);
  const Batch batch(args);
  const Floats32 sizes(args, packed != nullptr);
  float* a = args.workspace();
  float* b = a + sizes.a;
  float* c = b + sizes.b;
  widen(cpu, args.dtype(0), args.in(0), a, sizes.a);
  if (packed) {
    multiply_packed(cpu, a, batch.product.m, *packed, c, workers);
  } else {
    widen(cpu, args.dtype(1), args.in(1), b, sizes.b);
    multiply_all(cpu, batch, a, b, c, workers);
  }
  narrow(cpu, c, args.out_dtype(0), args.out(0), sizes.c);
}

Kernel exact_kernel(DType dtype) {
  Kernel kernel;
  visit(Exact{}, dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel = [](const Args& args, Workers& workers) {
      const Batch batch(args);
      const PlainProduct& p = batch.product;
      const T *a = args.in(0), *b = args.in(1);
      T* c = args.out(0);
      for (int64_t i = 0; i < batch.count; ++i) {
        multiply_defined<T>({a + batch.a_offset(i), p.k, 1}, {b + batch.b_offset(i), p.n, 1}, c + i * p.m * p.n, p,
                            workers);
      }
    };
  });
  return kernel;
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const DType dtype = node.input(0).dtype;
  if (dtype != DType::f32 && dtype != DType::f16 && dtype != DType::bf16) return exact_kernel(dtype);
  const Kernels& cpu = with.cpu;
  const Packed packed = pack_constant(node, 1, false, with);
  Kernel kernel;
  if (dtype == DType::f32) {
    kernel = [&cpu, packed](const Args& args, Workers& workers) { run_float(cpu, packed, args, workers); };
  } else {
    kernel = [&cpu, packed](const Args& args, Workers& workers) { run_half(cpu, packed, args, workers); };
    kernel.workspace = [has_packed = packed != nullptr](const Args& args, int) {
      return Floats32(args, has_packed).bytes();
    };
  }
  if (packed) {
    kernel.packed_inputs = {1};
    kernel.packed_bytes = packed->bytes();
  }
  return kernel;
}

}  // namespace

std::span<const OpDef> mat_mul() {
  static constexpr OpDef kTable[] = {{.name = "MatMul", .since = 1, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
