#include "ops/support/nbits_product.h"

#include <array>
#include <utility>

#include "base/dispatch_ledger.h"
#include "ops/support/float_rows.h"
#include "ops/support/product_grid.h"

namespace nxrt::ops {
namespace {

// Panels of gate and up at a time, of many rows: both stay in the second-level cache. Few rows take more of them, since
// each change from one to the other interrupts the stream of weights.
constexpr int64_t kGatePanels = 16;

// int8 rows that one row of activations becomes.
int64_t terms_of(Activations activations) {
  return activations == Activations::f32 ? 0 : activations == Activations::int8 ? 1 : 2;
}

int64_t columns_of(const std::vector<NBitsPart>& parts) {
  int64_t n = 0;
  for (const NBitsPart& part : parts) n += part.weights->n;
  return n;
}

// Byte offsets into the workspace.
struct Scratch {
  int64_t x;                // [m, k] f32 of the activations, when they are not f32
  int64_t rest;             // [width, k] f32: what the first term leaves of a worker's row
  int64_t q, scales, sums;  // QuantizedRows of [m · terms, k], the terms of a row side by side
  int64_t up;               // [width, kTileRows, kGatePanels · kPanel] f32, of gated products
  int64_t y;                // [m, nᵢ] f32 of each result, when the outputs are not f32
  int64_t bias;             // [Σ nᵢ]
  int64_t end;

  Scratch(const NBitsProduct& product, int64_t m, DType dtype, int width) {
    const PackedNBits& w = *product.parts[0].weights;
    const bool convert = dtype != DType::f32;
    const int64_t terms = terms_of(product.activations), blocks = w.blocks() * terms, n = columns_of(product.parts);
    int64_t at = 0;
    const auto take = [&](bool needed, int64_t bytes) {
      return std::exchange(at, at + (needed ? round_up(bytes, 64) : 0));
    };
    x = take(convert, m * w.k * 4);
    rest = take(terms == 2, width * float_bytes(w.k));
    q = take(terms > 0, m * blocks * w.block);
    scales = take(terms > 0, m * blocks * 4);
    sums = take(terms > 0, m * blocks * 4);
    up = take(product.gated, width * up_floats() * 4);
    y = take(convert, m * n * 4);
    bias = take(convert, n * 4);
    end = at;
  }
  static constexpr int64_t up_floats() { return kTileRows * kGatePanels * kPanel; }
};

int64_t rows_of(const Args& args, const PackedNBits& w) { return w.k == 0 ? 0 : args.shape(0).count() / w.k; }

// One run: where everything lies, and the things that are done to rows and tiles.
class Run {
 public:
  Run(const NBitsProduct& product, const Args& args, int width)
      : product_(product),
        cpu_(product.cpu),
        args_(args),
        dtype_(args.dtype(0)),
        w_(*product.parts[0].weights),
        m_(rows_of(args, w_)),
        terms_(terms_of(product.activations)),
        at_(product, m_, dtype_, width),
        q_(args.workspace(at_.q)),
        scales_(args.workspace(at_.scales)),
        sums_(args.workspace(at_.sums)) {}

  void load(Workers& workers) {
    for (size_t i = 0; i < product_.parts.size(); ++i) bias_[i] = load_bias(static_cast<int>(i));
    if (terms_ == 0 && dtype_ == DType::f32) return;
    workers.shards(m_, 1, [this](int64_t begin, int64_t end, int worker) {
      for (int64_t r = begin; r < end; ++r) load_row(r, worker);
    });
  }

  void multiply(Workers& workers) {
    if (product_.gated) {
      each_tile(workers, m_, w_.panels(), [this](int64_t row, int64_t rows, int64_t begin, int64_t end, int worker) {
        const int64_t step = kGatePanels * (kTileRows / rows);
        for (int64_t p = begin; p < end; p += step) gate({row, rows, p, std::min(end, p + step)}, worker);
      });
      return;
    }
    int64_t panels = 0;
    for (const NBitsPart& part : product_.parts) panels += part.weights->panels();
    each_tile(workers, m_, panels, [this](int64_t row, int64_t rows, int64_t begin, int64_t end, int) {
      for (int i = 0, last = static_cast<int>(product_.parts.size()); i < last; ++i) {
        const int64_t own = part_of(i).panels();
        const Tile tile = {row, rows, std::max<int64_t>(0, begin), std::min(own, end)};
        if (tile.panel_begin < tile.panel_end) multiply_part(i, tile);
        begin -= own, end -= own;
      }
    });
  }

 private:
  struct Tile {
    int64_t row, rows, panel_begin, panel_end;
  };
  // Where a tile's results go: row `row` of the tile, column 0 of the part.
  struct Target {
    float* c;
    int64_t stride;
  };

  const PackedNBits& part_of(int i) const { return *product_.parts[static_cast<size_t>(i)].weights; }

  int64_t columns_before(int i) const {
    int64_t n = 0;
    while (i > 0) n += part_of(--i).n;
    return n;
  }

  const float* load_bias(int i) const {
    const int input = product_.parts[static_cast<size_t>(i)].bias;
    if (input < 0 || !args_.has(input)) return nullptr;
    float* wide = args_.workspace(at_.bias);
    return as_floats(cpu_, args_.dtype(input), args_.in(input), 0, part_of(i).n, wide + columns_before(i));
  }

  void load_row(int64_t r, int worker) {
    float* wide = args_.workspace(at_.x);
    const float* x = as_floats(cpu_, dtype_, args_.in(0), r * w_.k, w_.k, wide + r * w_.k);
    if (terms_ == 0) return;
    float* mine = args_.workspace(at_.rest + worker * float_bytes(w_.k));
    float* rest = terms_ == 2 ? mine : nullptr;
    quantize(x, r * terms_, rest);
    if (rest) quantize(rest, r * 2 + 1, nullptr);
  }

  void quantize(const float* x, int64_t term_row, float* rest) {
    const int64_t b = term_row * w_.blocks();
    cpu_.quantize_row(x, w_.k, w_.block, q_ + b * w_.block, scales_ + b, sums_ + b, rest);
  }

  QuantizedRows quantized(int64_t row, int64_t rows) const {
    const int64_t b = row * terms_ * w_.blocks();
    return {q_ + b * w_.block, scales_ + b, sums_ + b, rows * terms_, w_.k, w_.block, static_cast<int>(terms_)};
  }

  void multiply_part(int i, const Tile& tile) {
    const PackedNBits& w = part_of(i);
    const Target y = target(i, tile);
    compute(i, tile, y);
    const int64_t column = tile.panel_begin * kPanel, columns = std::min(w.n, tile.panel_end * kPanel) - column;
    for (int64_t r = 0; r < tile.rows; ++r) {
      store_floats(cpu_, dtype_, y.c + r * y.stride + column, args_.out(i), (tile.row + r) * w.n + column, columns);
    }
  }

  // The gate's columns in place, the same columns of up beside them, then silu(gate) · up.
  void gate(const Tile& tile, int worker) {
    const int64_t column = tile.panel_begin * kPanel, columns = std::min(w_.n, tile.panel_end * kPanel) - column;
    float* mine = static_cast<float*>(args_.workspace(at_.up)) + worker * Scratch::up_floats();
    const Target y = target(0, tile), up = {mine - column, (tile.panel_end - tile.panel_begin) * kPanel};
    compute(0, tile, y);
    compute(1, tile, up);
    for (int64_t r = 0; r < tile.rows; ++r) {
      float* cell = y.c + r * y.stride + column;
      cpu_.silu_mul(cell, up.c + r * up.stride + column, cell, columns);
      store_floats(cpu_, dtype_, cell, args_.out(0), (tile.row + r) * w_.n + column, columns);
    }
  }

  Target target(int i, const Tile& tile) const {
    const int64_t n = part_of(i).n;
    if (dtype_ == DType::f32) return {static_cast<float*>(args_.out(i)) + tile.row * n, n};
    return {static_cast<float*>(args_.workspace(at_.y)) + m_ * columns_before(i) + tile.row * n, n};
  }

  void compute(int i, const Tile& tile, const Target& y) {
    const PackedNBits& w = part_of(i);
    if (terms_ > 0) {
      cpu_.gemm_nbits_q8(quantized(tile.row, tile.rows), w, tile.panel_begin, tile.panel_end, y.c, y.stride);
    } else {
      const float* a = dtype_ == DType::f32 ? args_.in(0) : args_.workspace(at_.x);
      cpu_.gemm_nbits_f32(a + tile.row * w.k, w.k, tile.rows, w, tile.panel_begin, tile.panel_end, y.c, y.stride);
    }
    const float* bias = bias_[static_cast<size_t>(i)];
    if (!bias) return;
    const int64_t column = tile.panel_begin * kPanel, columns = std::min(w.n, tile.panel_end * kPanel) - column;
    for (int64_t r = 0; r < tile.rows; ++r) {
      float* cell = y.c + r * y.stride + column;
      cpu_.binary[static_cast<int>(Binary::add)](cell, 1, bias + column, 1, cell, columns);
    }
  }

  const NBitsProduct& product_;
  const Kernels& cpu_;
  const Args& args_;
  DType dtype_;
  const PackedNBits& w_;  // of the first part
  int64_t m_, terms_;
  Scratch at_;
  int8_t* q_;
  float* scales_;
  float* sums_;
  std::array<const float*, NBitsProduct::kMostParts> bias_ = {};
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
  return Scratch(*this, rows_of(args, *parts[0].weights), args.dtype(0), width).end;
}

void NBitsProduct::run(const Args& args, Workers& workers) const {
  ledger().record(op, route, name_of(cpu.isa), workers.width());
  Run run(*this, args, workers.width());
  run.load(workers);
  run.multiply(workers);
}

}  // namespace nxrt::ops
