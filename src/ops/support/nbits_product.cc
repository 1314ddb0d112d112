#include "ops/support/nbits_product.h"

#include <utility>

#include "base/dispatch_ledger.h"
#include "ops/support/float_rows.h"
#include "ops/support/product_grid.h"

namespace nxrt::ops {
namespace {

// Byte offsets into the workspace.
struct Scratch {
  int64_t x;                // [m, k] f32 of the activations, when they are not f32 or to be quantized
  int64_t q, scales, sums;  // QuantizedRows of [m, k]
  int64_t y;                // [m, n] f32 of the result, when the output is not f32
  int64_t bias;             // [n]
  int64_t end;

  Scratch(const PackedNBits& w, int64_t m, DType dtype, bool quantized) {
    const bool convert = dtype != DType::f32;
    const int64_t blocks = w.blocks();
    int64_t at = 0;
    const auto take = [&](bool needed, int64_t bytes) {
      return std::exchange(at, at + (needed ? round_up(bytes, 64) : 0));
    };
    x = take(convert, m * w.k * 4);
    q = take(quantized, m * blocks * w.block);
    scales = take(quantized, m * blocks * 4);
    sums = take(quantized, m * blocks * 4);
    y = take(convert, m * w.n * 4);
    bias = take(convert, w.n * 4);
    end = at;
  }
};

int64_t rows_of(const Args& args, const PackedNBits& w) { return w.k == 0 ? 0 : args.shape(0).count() / w.k; }

}  // namespace

int64_t NBitsProduct::workspace(const Args& args, int) const {
  return Scratch(*weights, rows_of(args, *weights), args.dtype(0), int8_activations).end;
}

void NBitsProduct::run(const Args& args, Workers& workers) const {
  const PackedNBits& w = *weights;
  const int64_t m = rows_of(args, w);
  const DType dtype = args.dtype(0);
  const Scratch at(w, m, dtype, int8_activations);
  ledger().record(op, route, name_of(cpu.isa), workers.width());

  int8_t* q = args.workspace(at.q);
  float* scales = args.workspace(at.scales);
  int32_t* sums = args.workspace(at.sums);
  const auto load_row = [&](int64_t r) {
    const float* x =
        as_floats(cpu, dtype, args.in(0), r * w.k, w.k, static_cast<float*>(args.workspace(at.x)) + r * w.k);
    const int64_t b = r * w.blocks();
    if (int8_activations) cpu.quantize_row(x, w.k, w.block, q + b * w.block, scales + b, sums + b);
  };
  if (int8_activations || dtype != DType::f32) workers.each(m, load_row);

  const float* a = dtype == DType::f32 ? args.in(0) : args.workspace(at.x);
  float* y = dtype == DType::f32 ? args.out(0) : args.workspace(at.y);
  const float* added = nullptr;
  if (bias >= 0 && args.has(bias)) {
    added = as_floats(cpu, args.dtype(bias), args.in(bias), 0, w.n, args.workspace(at.bias));
  }
  each_tile(workers, m, w.panels(), [&](int64_t row, int64_t rows, int64_t panel_begin, int64_t panel_end) {
    float* c = y + row * w.n;
    const int64_t b = row * w.blocks();
    if (int8_activations) {
      const QuantizedRows x = {q + b * w.block, scales + b, sums + b, rows, w.k, w.block};
      cpu.gemm_nbits_q8(x, w, panel_begin, panel_end, c, w.n);
    } else {
      cpu.gemm_nbits_f32(a + row * w.k, w.k, rows, w, panel_begin, panel_end, c, w.n);
    }
    const int64_t column = panel_begin * kPanel, columns = std::min(w.n, panel_end * kPanel) - column;
    for (int64_t r = 0; r < rows; ++r) {
      float* cell = c + r * w.n + column;
      if (added) cpu.binary[static_cast<int>(Binary::add)](cell, 1, added + column, 1, cell, columns);
      store_floats(cpu, dtype, cell, args.out(0), (row + r) * w.n + column, columns);
    }
  });
}

}  // namespace nxrt::ops
