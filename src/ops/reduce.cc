// ReduceSum, Mean, Max, Min, Prod, L1, L2, SumSquare, LogSum, LogSumExp. Axes are an attribute or, later, an input;
// floats accumulate in double.
#include <cmath>
#include <limits>

#include "ops/support/infer.h"
#include "ops/support/reduction.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

using Allowed = decltype(AnyFixed{});

// A definition folds elements of type A (double, or 64-bit integers that wrap) into a total.
template <class A>
A plus(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class A>
A times(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}
template <class A>
A lowest() {
  using Limits = std::numeric_limits<A>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}
template <class A>
A highest() {
  using Limits = std::numeric_limits<A>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

struct Plain {
  template <class A>
  static A finish(A total, int64_t) {
    return total;
  }
};
struct Sum : Plain {
  template <class A>
  static A start() {
    return 0;
  }
  template <class A>
  static A fold(A total, A x) {
    return plus(total, x);
  }
};
struct Mean : Sum {
  template <class A>
  static A finish(A total, int64_t n) {
    if constexpr (std::is_integral_v<A>) {
      return n == 0 ? A{0} : static_cast<A>(total / static_cast<A>(n));
    } else {
      return total / static_cast<A>(n);
    }
  }
};
struct Prod : Plain {
  template <class A>
  static A start() {
    return 1;
  }
  template <class A>
  static A fold(A total, A x) {
    return times(total, x);
  }
};
struct Max : Plain {
  template <class A>
  static A start() {
    return lowest<A>();
  }
  template <class A>
  static A fold(A total, A x) {
    return x > total || x != x ? x : total;  // NaN stays. NOLINT(misc-redundant-expression)
  }
};
struct Min : Plain {
  template <class A>
  static A start() {
    return highest<A>();
  }
  template <class A>
  static A fold(A total, A x) {
    return x < total || x != x ? x : total;  // NaN stays. NOLINT(misc-redundant-expression)
  }
};
struct L1 : Sum {
  template <class A>
  static A fold(A total, A x) {
    return plus(total, x < A{0} ? plus(A{0}, times(A(-1), x)) : x);
  }
};
struct SumSquare : Sum {
  template <class A>
  static A fold(A total, A x) {
    return plus(total, times(x, x));
  }
};
struct L2 : SumSquare {
  template <class A>
  static A finish(A total, int64_t) {
    return static_cast<A>(std::sqrt(static_cast<double>(total)));
  }
};
struct LogSum : Sum {
  template <class A>
  static A finish(A total, int64_t) {
    return static_cast<A>(std::log(static_cast<double>(total)));
  }
};
struct LogSumExp {};

template <class F, class T>
Computed<T> reduced(const T* x, const Reduction& r) {
  using A = std::conditional_t<std::is_floating_point_v<Computed<T>>, double,
                               std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;
  if constexpr (std::is_same_v<F, LogSumExp>) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    r.each(x, [&](const T& v) { max = std::fmax(max, static_cast<double>(load(v))); });
    const double shift = std::isfinite(max) ? max : 0.0;
    r.each(x, [&](const T& v) { sum += std::exp(static_cast<double>(load(v)) - shift); });
    return static_cast<Computed<T>>(shift + std::log(sum));
  } else {
    A total = F::template start<A>();
    if constexpr (std::is_same_v<T, bool>) total = total > 0;  // the lowest bool is false
    r.each(x, [&](const T& v) { total = F::fold(total, static_cast<A>(load(v))); });
    return static_cast<Computed<T>>(F::finish(total, r.reduced_count));
  }
}

// The kernel table's way for a contiguous row; false when it has none.
template <class F>
bool fast_row(const Kernels& cpu, const float* x, int64_t n, float* y) {
  if constexpr (std::is_same_v<F, Sum>) return *y = cpu.sum(x, n), true;
  if constexpr (std::is_same_v<F, Mean>) return *y = cpu.sum(x, n) / static_cast<float>(n), true;
  if constexpr (std::is_same_v<F, Max>) return *y = cpu.max(x, n), true;
  if constexpr (std::is_same_v<F, SumSquare>) return *y = cpu.dot(x, x, n), true;
  if constexpr (std::is_same_v<F, L2>) return *y = std::sqrt(cpu.dot(x, x, n)), true;
  return false;
}

template <class F, class T>
void run(const Kernels& cpu, const Args& args, Workers& workers, const Reduction& r) {
  const T* x = args.in(0);
  T* y = args.out(0);
  workers.shards(r.kept_count, kElementsPerShard / (r.reduced_count + 1) + 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = x + r.offset(i);
      if constexpr (std::is_same_v<T, float>) {
        if (r.contiguous() && fast_row<F>(cpu, from, r.reduced_count, y + i)) continue;
      }
      y[i] = store<T>(reduced<F>(from, r));
    }
  });
}

template <class F>
std::vector<TensorType> infer(const NodeView& node) {
  expect_types(node, 0, Allowed{});
  TensorType type{node.input(0).dtype, reduced_shape(node), {}};
  const auto elements = node.elements(0);
  if constexpr (std::is_same_v<F, Prod>) {  // the number of elements, from a Shape
    if (elements && type.shape && type.shape->count().constant() == 1) {
      Dim product = 1;
      for (const Dim& e : *elements) product = product * e;
      return {with_elements(std::move(type), std::vector<Dim>{product})};
    }
  }
  return {std::move(type)};
}

template <class F>
Kernel prepare(const NodeView& node, Prepare& with) {
  Kernel kernel;
  visit(Allowed{}, node.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel = [&cpu = with.cpu, axes = ReducedAxes(node)](const Args& args, Workers& workers) {
      run<F, T>(cpu, args, workers, Reduction(args.shape(0), axes.at_run(args)));
    };
  });
  return kernel;
}

template <class F>
constexpr OpDef row(std::string_view name) {
  return {.name = name, .since = 1, .infer = infer<F>, .prepare = prepare<F>};
}

}  // namespace

std::span<const OpDef> reduce() {
  static constexpr OpDef kTable[] = {
      row<Sum>("ReduceSum"),       row<Mean>("ReduceMean"),
      row<Prod>("ReduceProd"),     row<Max>("ReduceMax"),
      row<Min>("ReduceMin"),       row<L1>("ReduceL1"),
      row<L2>("ReduceL2"),         row<SumSquare>("ReduceSumSquare"),
      row<LogSum>("ReduceLogSum"), row<LogSumExp>("ReduceLogSumExp"),
  };
  return kTable;
}

}  // namespace nxrt::ops
