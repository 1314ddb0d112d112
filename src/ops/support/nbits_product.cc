#include "ops/support/nbits_product.h"

#include <utility>

#include "base/dispatch_ledger.h"
#include "ops/support/float_rows.h"
#include "ops/support/product_grid.h"

namespace nxrt::ops {
namespace {

constexpr int64_t kChunkPanels = 16;  // of one product of two-term rows: its result stays in the second-level cache

// int8 rows that one row of activations becomes.
int64_t terms_of(Activations activations) {
  return activations == Activations::f32 ? 0 : activations == Activations::int8 ? 1 : 2;
}

// Byte offsets into the workspace.
struct Scratch {
  int64_t x;                // [m, k] f32 of the activations, when they are not f32
  int64_t rest;             // [m, k] f32: what the first term leaves
  int64_t q, scales, sums;  // QuantizedRows of [m · terms, k], the terms of a row side by side
  int64_t pair;             // [width][2 · kTileRows, kChunkPanels · kPanel] f32: products of both terms
  int64_t y;                // [m, n] f32 of the result, when the output is not f32
  int64_t bias;             // [n]
  int64_t end;

  Scratch(const PackedNBits& w, int64_t m, DType dtype, Activations activations, int width) {
    const bool convert = dtype != DType::f32;
    const int64_t terms = terms_of(activations), blocks = w.blocks() * terms;
    int64_t at = 0;
    const auto take = [&](bool needed, int64_t bytes) {
      return std::exchange(at, at + (needed ? round_up(bytes, 64) : 0));
    };
    x = take(convert, m * w.k * 4);
    rest = take(terms == 2, m * w.k * 4);
    q = take(terms > 0, m * blocks * w.block);
    scales = take(terms > 0, m * blocks * 4);
    sums = take(terms > 0, m * blocks * 4);
    pair = take(terms == 2, width * pair_count() * 4);
    y = take(convert, m * w.n * 4);
    bias = take(convert, w.n * 4);
    end = at;
  }
  static constexpr int64_t pair_count() { return 2 * kTileRows * kChunkPanels * kPanel; }
};

int64_t rows_of(const Args& args, const PackedNBits& w) { return w.k == 0 ? 0 : args.shape(0).count() / w.k; }

// One run: where everything lies, and the three things that are done to rows and tiles.
class Run {
 public:
  Run(const NBitsProduct& product, const Args& args, Workers& workers)
      : cpu_(product.cpu),
        w_(*product.weights),
        args_(args),
        dtype_(args.dtype(0)),
        m_(rows_of(args, w_)),
        terms_(terms_of(product.activations)),
        at_(w_, m_, dtype_, product.activations, workers.width()),
        q_(args.workspace(at_.q)),
        scales_(args.workspace(at_.scales)),
        sums_(args.workspace(at_.sums)) {}

  void load(Workers& workers) {
    if (terms_ > 0 || dtype_ != DType::f32) workers.each(m_, [this](int64_t r) { load_row(r); });
  }

  void multiply(Workers& workers, const float* added) {
    float* y = dtype_ == DType::f32 ? args_.out(0) : args_.workspace(at_.y);
    each_tile(workers, m_, w_.panels(), [&](int64_t row, int64_t rows, int64_t begin, int64_t end, int worker) {
      const Tile tile = {row, rows, begin, end, y + row * w_.n};
      if (terms_ == 2) {
        both_terms(tile, worker);
      } else if (terms_ == 1) {
        cpu_.gemm_nbits_q8(quantized(row, rows), w_, begin, end, tile.c, w_.n);
      } else {
        const float* a = dtype_ == DType::f32 ? args_.in(0) : args_.workspace(at_.x);
        cpu_.gemm_nbits_f32(a + row * w_.k, w_.k, rows, w_, begin, end, tile.c, w_.n);
      }
      store(tile, added);
    });
  }

  const float* bias(int input) const {
    if (input < 0 || !args_.has(input)) return nullptr;
    return as_floats(cpu_, args_.dtype(input), args_.in(input), 0, w_.n, args_.workspace(at_.bias));
  }

 private:
  struct Tile {
    int64_t row, rows, panel_begin, panel_end;
    float* c;  // [rows, n]
  };

  void load_row(int64_t r) {
    float* wide = args_.workspace(at_.x);
    const float* x = as_floats(cpu_, dtype_, args_.in(0), r * w_.k, w_.k, wide + r * w_.k);
    if (terms_ == 0) return;
    quantize(x, r * terms_);
    if (terms_ == 1) return;
    float* rest = static_cast<float*>(args_.workspace(at_.rest)) + r * w_.k;
    const int64_t b = r * 2 * w_.blocks();
    for (int64_t i = 0; i < w_.k; ++i) {
      rest[i] = x[i] - scales_[b + i / w_.block] * static_cast<float>(q_[b * w_.block + i]);
    }
    quantize(rest, r * 2 + 1);
  }

  void quantize(const float* x, int64_t term_row) {
    const int64_t b = term_row * w_.blocks();
    cpu_.quantize_row(x, w_.k, w_.block, q_ + b * w_.block, scales_ + b, sums_ + b);
  }

  QuantizedRows quantized(int64_t row, int64_t rows) const {
    const int64_t b = row * terms_ * w_.blocks();
    return {q_ + b * w_.block, scales_ + b, sums_ + b, rows * terms_, w_.k, w_.block};
  }

  // The products of both terms side by side, then their sum; a row's result does not depend on the tile it falls in.
  void both_terms(const Tile& tile, int worker) {
    float* pair = static_cast<float*>(args_.workspace(at_.pair)) + worker * Scratch::pair_count();
    const QuantizedRows x = quantized(tile.row, tile.rows);
    for (int64_t panel = tile.panel_begin; panel < tile.panel_end; panel += kChunkPanels) {
      const int64_t end = std::min(panel + kChunkPanels, tile.panel_end), first = panel * kPanel;
      const int64_t columns = std::min(w_.n, end * kPanel) - first, stride = kChunkPanels * kPanel;
      cpu_.gemm_nbits_q8(x, w_, panel, end, pair - first, stride);
      for (int64_t r = 0; r < tile.rows; ++r) {
        const float* a = pair + 2 * r * stride;
        cpu_.binary[static_cast<int>(Binary::add)](a, 1, a + stride, 1, tile.c + r * w_.n + first, columns);
      }
    }
  }

  void store(const Tile& tile, const float* added) {
    const int64_t column = tile.panel_begin * kPanel, columns = std::min(w_.n, tile.panel_end * kPanel) - column;
    for (int64_t r = 0; r < tile.rows; ++r) {
      float* cell = tile.c + r * w_.n + column;
      if (added) cpu_.binary[static_cast<int>(Binary::add)](cell, 1, added + column, 1, cell, columns);
      store_floats(cpu_, dtype_, cell, args_.out(0), (tile.row + r) * w_.n + column, columns);
    }
  }

  const Kernels& cpu_;
  const PackedNBits& w_;
  const Args& args_;
  DType dtype_;
  int64_t m_, terms_;
  Scratch at_;
  int8_t* q_;
  float* scales_;
  int32_t* sums_;
};

}  // namespace

Activations activations_for(int64_t accuracy_level) {
  if (accuracy_level == 4) return Activations::int8;
  return accuracy_level == 2 || accuracy_level == 3 ? Activations::int16 : Activations::f32;
}

std::string_view name_of(Activations activations) {
  return activations == Activations::f32 ? "f32" : activations == Activations::int8 ? "q8" : "q16";
}

int64_t NBitsProduct::workspace(const Args& args, int width) const {
  return Scratch(*weights, rows_of(args, *weights), args.dtype(0), activations, width).end;
}

void NBitsProduct::run(const Args& args, Workers& workers) const {
  ledger().record(op, route, name_of(cpu.isa), workers.width());
  Run run(*this, args, workers);
  run.load(workers);
  run.multiply(workers, run.bias(bias));
}

}  // namespace nxrt::ops
