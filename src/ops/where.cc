// Where, ai.onnx 9: output = condition ? x : y, all three broadcast.
#include "ops/support/infer.h"
#include "ops/support/runs.h"
#include "ops/support/types.h"

namespace nxrt::ops {
namespace {

// Known elements: only when the three have one shape or are scalars.
std::optional<std::vector<Dim>> choose_elements(const NodeView& node, const SymShape& shape) {
  const auto condition = node.elements(0), x = node.elements(1), y = node.elements(2);
  const auto concrete = shape.constant();
  if (!condition || !x || !y || !concrete) return std::nullopt;
  const size_t count = static_cast<size_t>(concrete->count());
  const auto fits = [&](const std::vector<Dim>& v) { return v.size() == count || v.size() == 1; };
  if (!fits(*condition) || !fits(*x) || !fits(*y)) return std::nullopt;
  const auto at = [](const std::vector<Dim>& v, size_t i) { return v.size() == 1 ? v[0] : v[i]; };
  std::vector<Dim> result;
  for (size_t i = 0; i < count; ++i) {
    const auto chosen = at(*condition, i).constant();
    result.push_back(!chosen ? Dim::unknown() : *chosen ? at(*x, i) : at(*y, i));
  }
  return result;
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(3, 3);
  node.expect_dtype(0, DType::boolean);
  node.expect_same_dtype(1, 2);
  element_bytes(node, 1);
  const auto values = broadcast_inputs(node, 1, 2);
  if (!values || !node.has_shape(0)) return {{node.input(1).dtype, {}, {}}};
  const SymShape shape = broadcast(node, *values, node.shape(0));
  return {with_elements({node.input(1).dtype, shape, {}}, choose_elements(node, shape))};
}

template <class Word>
Kernel kernel() {
  return [](const Args& args, Workers& workers) {
    const bool* condition = args.in(0);
    const Word* x = args.in(1);
    const Word* y = args.in(2);
    Word* z = args.out(0);
    const Runs runs = plan_runs(args.out_shape(0), {&args.shape(0), &args.shape(1), &args.shape(2)});
    each_run(runs, workers, [&](const auto& at, int64_t out, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        z[out + i] = condition[at[0] + i * runs.step[0]] ? x[at[1] + i * runs.step[1]] : y[at[2] + i * runs.step[2]];
      }
    });
  };
}

Kernel prepare(const NodeView& node, Prepare&) {
  switch (element_bytes(node, 1)) {
    case 1: return kernel<uint8_t>();
    case 2: return kernel<uint16_t>();
    case 4: return kernel<uint32_t>();
    case 8: return kernel<uint64_t>();
    default: node.unsupported("complex128 values");
  }
}

}  // namespace

std::span<const OpDef> where() {
  static constexpr OpDef kTable[] = {{.name = "Where", .since = 9, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
