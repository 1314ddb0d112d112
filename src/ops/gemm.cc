// Gemm, ai.onnx 7: y[m, n] = alpha · A' · B' + beta · C, C broadcast; A' and B' are A and B or their transposes.
#include <fmt/format.h>

#include "base/dispatch_ledger.h"
#include "ops/support/infer.h"
#include "ops/support/matrix.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

using Exact = Types<double, int32_t, int64_t, uint32_t, uint64_t>;
using Singles = Types<float, Half, BFloat16>;

struct Attributes {
  bool a_transposed, b_transposed;
  float alpha, beta;
  explicit Attributes(const NodeView& node)
      : a_transposed(node.i64("transA", 0) != 0),
        b_transposed(node.i64("transB", 0) != 0),
        alpha(node.f32("alpha", 1.0f)),
        beta(node.f32("beta", 1.0f)) {}
};

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 3);
  expect_types(node, 0, Singles{} + Exact{});
  node.expect_same_dtype(0, 1);
  node.expect_rank(0, 2);
  node.expect_rank(1, 2);
  const Attributes attrs(node);
  const SymShape &a = node.shape(0), &b = node.shape(1);
  const Dim &m = a[attrs.a_transposed ? 1 : 0], &n = b[attrs.b_transposed ? 0 : 1];
  const Dim &a_depth = a[attrs.a_transposed ? 0 : 1], &b_depth = b[attrs.b_transposed ? 1 : 0];
  if (contradict(a_depth, b_depth)) {
    node.fail(fmt::format("inputs 0 and 1 have shapes {} and {}: the inner dims {} and {} differ", a.text(), b.text(),
                          a_depth.text(), b_depth.text()));
  }
  const SymShape y{m, n};
  if (node.has_input(2)) {
    node.expect_same_dtype(0, 2);
    if (node.has_shape(2)) {
      const SymShape both = broadcast(node, y, node.shape(2));
      if (both.rank() > 2 || contradict(both[0], m) || contradict(both[1], n)) {
        node.fail(fmt::format("input 2 has shape {}, which does not broadcast to {}", node.shape(2).text(), y.text()));
      }
    }
  }
  return {{node.input(0).dtype, y, {}}};
}

PlainProduct product_of(const Args& args, const Attributes& attrs) {
  const Shape &a = args.shape(0), &y = args.out_shape(0);
  return {y[0], y[1], a[attrs.a_transposed ? 0 : 1], attrs.b_transposed};
}

// y = alpha · y + beta · C
template <class T, class Scale>
void finish(const Args& args, Scale* y, Scale alpha, Scale beta, const T* c, Workers& workers) {
  const Shape none{1};
  const Runs runs = plan_runs(args.out_shape(0), {c ? &args.shape(2) : &none});
  if (!c && alpha == Scale{1}) return;
  each_run(runs, workers, [&](const auto& at, int64_t out, int64_t n) {
    for (int64_t i = out; i < out + n; ++i) {
      y[i] = static_cast<Scale>(alpha * y[i]);
      if (c) y[i] = static_cast<Scale>(y[i] + beta * static_cast<Scale>(load(c[at[0] + (i - out) * runs.step[0]])));
    }
  });
}

// Workspace in floats: A transposed or widened, B widened, Y before narrowing.
struct Scratch {
  int64_t a = 0, b = 0, y = 0;
  Scratch(const Args& args, const Attributes& attrs, bool packed) {
    const bool half = args.dtype(0) != DType::f32;
    if (half || attrs.a_transposed) a = args.shape(0).count();
    if (half && !packed) b = args.shape(1).count();
    if (half) y = args.out_shape(0).count();
  }
  int64_t bytes() const { return (a + b + y) * 4; }
};

template <class T>
const float* float_rows(const Args& args, const Attributes& attrs, const PlainProduct& p, float* scratch) {
  const T* a = args.in(0);
  if constexpr (std::is_same_v<T, float>) {
    if (!attrs.a_transposed) return a;
  }
  const int64_t row = attrs.a_transposed ? 1 : p.k, col = attrs.a_transposed ? p.m : 1;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t k = 0; k < p.k; ++k) scratch[i * p.k + k] = load(a[i * row + k * col]);
  }
  return scratch;
}

using Packed = std::shared_ptr<const PackedFloats>;

template <class T>
void run_single(const Kernels& cpu, const Attributes& attrs, const Packed& packed, const Args& args, Workers& workers) {
  ledger().record("Gemm", route_of(packed.get()), name_of(cpu.isa), workers.width());
  const PlainProduct p = product_of(args, attrs);
  const Scratch scratch(args, attrs, packed != nullptr);
  float* a_scratch = args.workspace();
  float* b_scratch = a_scratch + scratch.a;
  float* y = scratch.y ? b_scratch + scratch.b : static_cast<float*>(args.out(0));
  const float* a = float_rows<T>(args, attrs, p, a_scratch);
  if (packed) {
    multiply_packed(cpu, a, p.m, *packed, y, workers);
  } else {
    const float* b = scratch.b ? b_scratch : static_cast<const float*>(args.in(1));
    if (scratch.b) widen(cpu, args.dtype(1), args.in(1), b_scratch, scratch.b);
    multiply_plain(cpu, a, b, y, p, workers);
  }
  finish<T, float>(args, y, attrs.alpha, attrs.beta, args.in(2), workers);
  if (scratch.y) narrow(cpu, y, args.out_dtype(0), args.out(0), scratch.y);
}

template <class T>
Kernel exact_kernel(const Attributes& attrs) {
  return [attrs](const Args& args, Workers& workers) {
    const PlainProduct p = product_of(args, attrs);
    const Operand<T> a{args.in(0), attrs.a_transposed ? 1 : p.k, attrs.a_transposed ? p.m : 1};
    const Operand<T> b{args.in(1), attrs.b_transposed ? 1 : p.n, attrs.b_transposed ? p.k : 1};
    T* y = args.out(0);
    multiply_defined<T>(a, b, y, p, workers);
    if constexpr (std::is_integral_v<T>) {  // the scales are floats; integers are scaled in double
      const T* c = args.in(2);
      const Runs runs = plan_runs(args.out_shape(0), {c ? &args.shape(2) : &args.out_shape(0)});
      each_run(runs, workers, [&](const auto& at, int64_t out, int64_t n) {
        for (int64_t i = out; i < out + n; ++i) {
          const double bias = c ? static_cast<double>(c[at[0] + (i - out) * runs.step[0]]) * attrs.beta : 0.0;
          y[i] = static_cast<T>(static_cast<double>(y[i]) * attrs.alpha + bias);
        }
      });
    } else {
      finish<T, T>(args, y, attrs.alpha, attrs.beta, args.in(2), workers);
    }
  };
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const Attributes attrs(node);
  Kernel kernel;
  visit(Exact{}, node.input(0).dtype, [&](auto tag) { kernel = exact_kernel<typename decltype(tag)::type>(attrs); });
  if (kernel.run) return kernel;
  const Packed packed = pack_constant(node, 1, attrs.b_transposed, with);
  visit(Singles{}, node.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel = [&cpu = with.cpu, attrs, packed](const Args& args, Workers& workers) {
      run_single<T>(cpu, attrs, packed, args, workers);
    };
  });
  kernel.workspace = [attrs, has_packed = packed != nullptr](const Args& args, int) {
    return Scratch(args, attrs, has_packed).bytes();
  };
  if (packed) {
    kernel.packed_inputs = {1};
    kernel.packed_bytes = packed->bytes();
  }
  return kernel;
}

}  // namespace

std::span<const OpDef> gemm() {
  static constexpr OpDef kTable[] = {{.name = "Gemm", .since = 7, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
