// com.microsoft FusedMatMul: y = alpha · op(A) · op(B), with op a transposition of the last two axes when transA or
// transB is set; leading axes broadcast as in MatMul.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/op.h"
#include "ops/support/float_rows.h"

namespace nxrt::ops {
namespace {

struct Attributes {
  float alpha;
  bool trans_a, trans_b;
  explicit Attributes(const NodeView& node)
      : alpha(node.f32("alpha", 1.0f)), trans_a(node.i64("transA", 0) != 0), trans_b(node.i64("transB", 0) != 0) {
    for (const char* name : {"transBatchA", "transBatchB"}) {
      if (node.i64(name, 0) != 0) node.unsupported(fmt::format("{} is set, expected 0", name));
    }
  }
};

SymShape lead(const SymShape& shape) { return SymShape({shape.dims().begin(), shape.dims().end() - 2}); }

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 2);
  node.expect_dtype(0, DType::f32);
  node.expect_dtype(1, DType::f32);
  const Attributes attrs(node);
  const SymShape &a = node.shape(0), &b = node.shape(1);
  if (a.rank() < 2 || b.rank() < 2) {
    node.unsupported(fmt::format("inputs have ranks {} and {}, expected at least 2", a.rank(), b.rank()));
  }
  const Dim& m = a[a.rank() - (attrs.trans_a ? 1 : 2)];
  const Dim& k = a[a.rank() - (attrs.trans_a ? 2 : 1)];
  const Dim& b_k = b[b.rank() - (attrs.trans_b ? 1 : 2)];
  const Dim& n = b[b.rank() - (attrs.trans_b ? 2 : 1)];
  if (contradict(k, b_k))
    node.fail(
        fmt::format("inner dims of {} and {} are {} and {}, expected equal", a.text(), b.text(), k.text(), b_k.text()));
  std::vector<Dim> dims = broadcast(node, lead(a), lead(b)).dims();
  dims.push_back(m);
  dims.push_back(n);
  return {{.dtype = DType::f32, .shape = SymShape(dims)}};
}

// Which matrix of a broadcast operand serves matrix `index` of the result.
int64_t operand_matrix(const Shape& operand, const Shape& y, int64_t index) {
  int64_t at = 0, step = 1;
  for (int axis = operand.rank() - 3, y_axis = y.rank() - 3; axis >= 0; --axis, --y_axis) {
    if (operand[axis] != 1) at += index % y[y_axis] * step;
    step *= operand[axis];
    index /= y[y_axis];
  }
  return at;
}

struct Product {
  const Kernels& cpu;
  Attributes attrs;

  void run(const Args& args, Workers& workers) const {
    const Shape &a = args.shape(0), &b = args.shape(1), &y = args.out_shape(0);
    const int64_t m = y[y.rank() - 2], n = y[y.rank() - 1], k = a[a.rank() - (attrs.trans_a ? 2 : 1)];
    for (int64_t i = 0; i < y.count(0, y.rank() - 2); ++i) {
      const float* left = static_cast<const float*>(args.in(0)) + operand_matrix(a, y, i) * m * k;
      const float* right = static_cast<const float*>(args.in(1)) + operand_matrix(b, y, i) * k * n;
      if (attrs.trans_a) left = transposed(left, m, k, args.workspace());
      multiply(left, right, static_cast<float*>(args.out(0)) + i * m * n, m, n, k, workers);
    }
  }

 private:
  static const float* transposed(const float* x, int64_t m, int64_t k, float* to) {
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t i = 0; i < k; ++i) to[r * k + i] = x[i * m + r];
    }
    return to;
  }

  void multiply(const float* a, const float* b, float* y, int64_t m, int64_t n, int64_t k, Workers& workers) const {
    const int64_t ldb = attrs.trans_b ? k : n;
    const auto part = [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
      float* c = y + row * n + column;
      cpu.gemm_f32_plain(a + row * k, k, b + column * (attrs.trans_b ? k : 1), ldb, attrs.trans_b, c, n, rows, columns,
                         k);
      for (int64_t r = 0; r < rows && attrs.alpha != 1.0f; ++r) {
        cpu.binary[static_cast<int>(Binary::mul)](c + r * n, 1, &attrs.alpha, 0, c + r * n, columns);
      }
    };
    if (m >= 4 * workers.width()) {
      workers.shards(m, 4, [&](int64_t begin, int64_t end, int) { part(begin, end - begin, 0, n); });
    } else {
      workers.shards(n, 16, [&](int64_t begin, int64_t end, int) { part(0, m, begin, end - begin); });
    }
  }
};

Kernel prepare(const NodeView& node, Prepare& with) {
  const Product op = {with.cpu, Attributes(node)};
  Kernel kernel = [op](const Args& args, Workers& workers) { op.run(args, workers); };
  kernel.workspace = [op](const Args& args, int) -> int64_t {
    const Shape& a = args.shape(0);
    return op.attrs.trans_a ? a.count(a.rank() - 2, a.rank()) * 4 : 0;
  };
  return kernel;
}

const std::array kOps = {OpDef{.domain = "com.microsoft", .name = "FusedMatMul", .infer = infer, .prepare = prepare}};
}  // namespace

std::span<const OpDef> fused_matmul() { return kOps; }

}  // namespace nxrt::ops
