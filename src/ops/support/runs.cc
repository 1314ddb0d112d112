#include "ops/support/runs.h"

#include <algorithm>
#include <utility>

namespace nxrt::ops {
namespace {

// Strides of `input` aligned to the right of `output`; 0 where it broadcasts.
std::array<int64_t, Shape::kMaxRank> broadcast_strides(const Shape& output, const Shape& input) {
  std::array<int64_t, Shape::kMaxRank> strides{};
  int64_t stride = 1;
  for (int d = input.rank() - 1; d >= 0; --d) {
    const int out = d + output.rank() - input.rank();
    strides[static_cast<size_t>(out)] = input[d] == 1 ? 0 : stride;
    stride *= input[d];
  }
  return strides;
}

}  // namespace

std::array<int64_t, Runs::kMaxInputs> Runs::offsets(int64_t row) const {
  std::array<int64_t, kMaxInputs> at{};
  for (int d = outer - 1; d >= 0; --d) {
    const size_t axis = static_cast<size_t>(d);
    const int64_t index = row % dims[axis];
    row /= dims[axis];
    for (size_t i = 0; i < static_cast<size_t>(inputs); ++i) at[i] += index * strides[i][axis];
  }
  return at;
}

Runs plan_runs(const Shape& output, std::initializer_list<const Shape*> inputs) {
  Runs runs;
  std::array<std::array<int64_t, Shape::kMaxRank>, Runs::kMaxInputs> strides{};
  for (const Shape* input : inputs) strides[static_cast<size_t>(runs.inputs++)] = broadcast_strides(output, *input);
  const size_t count = static_cast<size_t>(runs.inputs);

  // Merged dims, innermost first: dim d joins the group below when every input walks on through it.
  int groups = 0;
  std::array<int64_t, Shape::kMaxRank> dims{};
  std::array<std::array<int64_t, Shape::kMaxRank>, Runs::kMaxInputs> merged{};
  for (int d = output.rank() - 1; d >= 0; --d) {
    const size_t axis = static_cast<size_t>(d);
    if (output[d] == 1) continue;
    bool joins = groups > 0;
    const size_t last = static_cast<size_t>(std::max(groups - 1, 0));
    for (size_t i = 0; i < count && joins; ++i) joins = strides[i][axis] == merged[i][last] * dims[last];
    if (joins) {
      dims[last] *= output[d];
      continue;
    }
    dims[static_cast<size_t>(groups)] = output[d];
    for (size_t i = 0; i < count; ++i) merged[i][static_cast<size_t>(groups)] = strides[i][axis];
    ++groups;
  }

  if (groups == 0) return runs;  // one element
  runs.length = dims[0];
  for (size_t i = 0; i < count; ++i) runs.step[i] = static_cast<int>(merged[i][0]);
  runs.outer = groups - 1;
  for (int g = 1; g < groups; ++g) {
    const size_t to = static_cast<size_t>(groups - 1 - g), from = static_cast<size_t>(g);
    runs.dims[to] = dims[from];
    runs.rows *= dims[from];
    for (size_t i = 0; i < count; ++i) runs.strides[i][to] = merged[i][from];
  }
  return runs;
}

Kernel unary_kernel(UnaryRow row) {
  return [row = std::move(row)](const Args& args, Workers& workers) {
    const int64_t in_bytes = bits_of(args.dtype(0)) / 8, out_bytes = bits_of(args.out_dtype(0)) / 8;
    const std::byte* x = args.in(0);
    std::byte* y = args.out(0);
    workers.shards(args.shape(0).count(), kElementsPerShard, [&](int64_t begin, int64_t end, int) {
      row(x + begin * in_bytes, y + begin * out_bytes, end - begin);
    });
  };
}

Kernel binary_kernel(BinaryRow row, const NodeView& node) {
  Kernel kernel = [row = std::move(row)](const Args& args, Workers& workers) {
    const int64_t a_bytes = bits_of(args.dtype(0)) / 8, b_bytes = bits_of(args.dtype(1)) / 8;
    const int64_t y_bytes = bits_of(args.out_dtype(0)) / 8;
    const std::byte* a = args.in(0);
    const std::byte* b = args.in(1);
    std::byte* y = args.out(0);
    const Runs runs = plan_runs(args.out_shape(0), {&args.shape(0), &args.shape(1)});
    each_run(runs, workers, [&](const auto& at, int64_t out, int64_t n) {
      row(a + at[0] * a_bytes, runs.step[0], b + at[1] * b_bytes, runs.step[1], y + out * y_bytes, n);
    });
  };
  // Only when input 0 has the output's shape whatever the symbols are.
  if (node.has_shape(0) && node.has_shape(1) && broadcast(node, node.shape(0), node.shape(1)) == node.shape(0)) {
    kernel.in_place = 0;
  }
  return kernel;
}

namespace {

constexpr int64_t kPiece = 512;  // elements converted at a time

void widen(DType half, const Kernels& cpu, const void* x, float* y, int64_t n) {
  if (half == DType::f16) return cpu.half_to_float(static_cast<const Half*>(x), y, n);
  cpu.bfloat16_to_float(static_cast<const BFloat16*>(x), y, n);
}

void narrow(DType half, const Kernels& cpu, const float* x, void* y, int64_t n) {
  if (half == DType::f16) return cpu.float_to_half(x, static_cast<Half*>(y), n);
  cpu.float_to_bfloat16(x, static_cast<BFloat16*>(y), n);
}

}  // namespace

UnaryRow through_float(UnaryRow row, DType half, const Kernels& cpu) {
  return [row = std::move(row), half, &cpu](const void* x, void* y, int64_t n) {
    float piece[kPiece];
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t m = std::min(kPiece, n - i);
      widen(half, cpu, static_cast<const uint16_t*>(x) + i, piece, m);
      row(piece, piece, m);
      narrow(half, cpu, piece, static_cast<uint16_t*>(y) + i, m);
    }
  };
}

BinaryRow through_float(BinaryRow row, DType half, const Kernels& cpu) {
  return [row = std::move(row), half, &cpu](const void* a, int a_step, const void* b, int b_step, void* y, int64_t n) {
    float pa[kPiece], pb[kPiece], py[kPiece];
    if (n > 0 && a_step == 0) widen(half, cpu, a, pa, 1);
    if (n > 0 && b_step == 0) widen(half, cpu, b, pb, 1);
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t m = std::min(kPiece, n - i);
      if (a_step) widen(half, cpu, static_cast<const uint16_t*>(a) + i, pa, m);
      if (b_step) widen(half, cpu, static_cast<const uint16_t*>(b) + i, pb, m);
      row(pa, a_step, pb, b_step, py, m);
      narrow(half, cpu, py, static_cast<uint16_t*>(y) + i, m);
    }
  };
}

}  // namespace nxrt::ops
