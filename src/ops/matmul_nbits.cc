// com.microsoft MatMulNBits: y = A · dequantize(B)ᵀ (+ bias), w = (q − zero_point) · scale per block along K.
// Inputs: A [..., K]; B u8 [N, blocks, block·bits/8], low bits first; scales [N, blocks]; zero_points? packed u8
// [N, ceil(blocks·bits/8)] or [N, blocks] in A's type (default 2^(bits−1)); g_idx? (only the identity); bias? [N].
// accuracy_level 4 allows int8 activations, one scale per block; 2 and 3 (f16, bf16) take two int8 terms; the others
// f32.
//
// nxrt MatMulNBitsGroup (internal): several of them with the same A, so that A is quantized once and their columns are
// shared out together. N is a list; inputs: A, then B, scales, zero_points?, g_idx?, bias? of each; one output of each,
// or, with gated = 1 and two of them, gate and up, the one output silu(gate) · up.
#include <fmt/format.h>

#include <array>

#include "ops/op.h"
#include "ops/support/float_rows.h"
#include "ops/support/nbits_product.h"

namespace nxrt::ops {
namespace {

// Of one product; its inputs but A are those from `first` on.
struct Attributes {
  int64_t n, k, bits, block, accuracy_level;
  int first;

  explicit Attributes(const NodeView& node) : Attributes(node, node.i64("N"), 1) {}
  Attributes(const NodeView& node, int64_t columns, int first_input)
      : n(columns),
        k(node.i64("K")),
        bits(node.i64("bits", 4)),
        block(node.i64("block_size")),
        accuracy_level(node.i64("accuracy_level", 0)),
        first(first_input) {
    constexpr int64_t kMost = int64_t{1} << 40;
    if (n < 1 || k < 1 || n > kMost || k > kMost)
      node.fail(fmt::format("N is {} and K is {}, expected at least 1", n, k));
    if (bits != 2 && bits != 4 && bits != 8) {
      node.unsupported(fmt::format("bits is {}, expected 2, 4 or 8", bits), "export the model again with 4 or 8 bits");
    }
    if (block < 16 || block > 256 || (block & (block - 1)) != 0) {
      node.fail(fmt::format("block_size is {}, expected 16, 32, 64, 128 or 256", block),
                "export the model again with block_size 32");
    }
    if (node.i64("weight_prepacked", 0) != 0) {
      node.unsupported("weight_prepacked is set: the weights are in a GPU's layout, expected the standard one",
                       "export the model again for CPU");
    }
  }
  int64_t blocks() const { return (k + block - 1) / block; }
  int64_t blob() const { return block * bits / 8; }
  int64_t packed_points() const { return (blocks() * bits + 7) / 8; }  // bytes per row
  int b() const { return first; }
  int scales() const { return first + 1; }
  int zero_points() const { return first + 2; }
  int g_idx() const { return first + 3; }
  int bias() const { return first + 4; }
};
constexpr int kInputs = 5;  // of a product, without A

// Some exporters flatten the parameters; only the number of elements and the order matter.
void expect_count(const NodeView& node, int i, std::string_view what, int64_t count, const SymShape& expected) {
  const auto shape = node.shape(i).constant();
  if (shape && shape->count() != count) {
    node.fail(fmt::format("input {} ({}) has shape {}, expected {}", i, what, node.shape(i).text(), expected.text()));
  }
}

TensorType infer_product(const NodeView& node, const Attributes& a) {
  node.expect_dtype(0, kRowDTypes);
  node.expect_dtype(a.b(), DType::u8);
  node.expect_dtype(a.scales(), kRowDTypes);
  SymShape y = node.shape(0);
  if (y.rank() == 0 || contradict(y[y.rank() - 1], a.k)) {
    node.fail(fmt::format("input 0 has shape {}, expected its last dim to be K = {}", y.text(), a.k));
  }
  expect_count(node, a.b(), "B", a.n * a.blocks() * a.blob(), {a.n, a.blocks(), a.blob()});
  expect_count(node, a.scales(), "scales", a.n * a.blocks(), {a.n, a.blocks()});
  if (const int i = a.zero_points(); node.has_input(i)) {
    node.expect_dtype(i, {DType::u8, DType::f32, DType::f16, DType::bf16});
    const int64_t row = node.input(i).dtype == DType::u8 ? a.packed_points() : a.blocks();
    expect_count(node, i, "zero_points", a.n * row, {a.n, row});
  }
  if (node.has_input(a.g_idx())) node.expect_dtype(a.g_idx(), DType::i32);
  if (node.has_input(a.bias())) {
    node.expect_same_dtype(a.bias(), 0);
    node.expect_shape(a.bias(), {a.n});
  }
  y[y.rank() - 1] = a.n;
  return {.dtype = node.input(0).dtype, .shape = y};
}

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(3, 1 + kInputs);
  return {infer_product(node, Attributes(node))};
}

const Tensor& weight(const NodeView& node, int i, std::string_view what) {
  const Tensor* tensor = node.constant(i);
  if (!tensor) {
    node.unsupported(fmt::format("input {} ({}) is computed at run time, expected an initializer", i, what),
                     "store the quantized weights in the model");
  }
  return *tensor;
}

void expect_ordered_groups(const NodeView& node, const Attributes& a) {
  if (!node.has_input(a.g_idx())) return;
  const Tensor& groups = weight(node, a.g_idx(), "g_idx");
  for (int64_t i = 0; i < std::min(a.k, groups.count()); ++i) {
    if (groups.data<int32_t>()[i] == i / a.block) continue;
    node.unsupported(fmt::format("g_idx[{}] is {}, expected {}: rows of K in another order than stored", i,
                                 groups.data<int32_t>()[i], i / a.block),
                     "quantize again without act-order (desc_act = false)");
  }
}

// 2-bit values [rows, n] as 4-bit ones, each row padded to a byte.
std::vector<uint8_t> widen(const uint8_t* from, int64_t rows, int64_t n) {
  const int64_t from_row = (n + 3) / 4, to_row = (n + 1) / 2;
  std::vector<uint8_t> to(static_cast<size_t>(rows * to_row));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < n; ++i) {
      const int value = from[r * from_row + i / 4] >> (i % 4 * 2) & 3;
      to[static_cast<size_t>(r * to_row + i / 2)] |= static_cast<uint8_t>(value << (i % 2 * 4));
    }
  }
  return to;
}

PackedNBits pack(const NodeView& node, const Attributes& a, Workers& workers) {
  const Tensor &b = weight(node, a.b(), "B"), &scales = weight(node, a.scales(), "scales");
  const Tensor* points = node.has_input(a.zero_points()) ? &weight(node, a.zero_points(), "zero_points") : nullptr;
  NBitsSource source = {
      static_cast<int>(a.bits), a.block, a.n, a.k, b.data<uint8_t>(), nullptr, nullptr, nullptr, nullptr};
  std::vector<float> scales_f32, points_f32;
  std::vector<uint8_t> wide_q, wide_points;
  if (scales.dtype() == DType::f32) {
    source.scales = scales.data<float>();
  } else if (scales.dtype() == DType::f16) {
    source.half_scales = static_cast<const uint16_t*>(scales.raw());
  } else {
    source.scales = (scales_f32 = to_floats(scales)).data();
  }
  if (points && points->dtype() == DType::u8) {
    source.zero_points = points->data<uint8_t>();
  } else if (points) {
    source.float_zero_points = (points_f32 = to_floats(*points)).data();
  }
  if (a.bits == 2) {  // kernels know 4 and 8 bits
    source.bits = 4;
    source.q = (wide_q = widen(source.q, a.n * a.blocks(), a.block)).data();
    if (source.zero_points) {
      source.zero_points = (wide_points = widen(source.zero_points, a.n, a.blocks())).data();
    } else if (!source.float_zero_points) {
      points_f32.assign(static_cast<size_t>(a.n * a.blocks()), 2.0f);
      source.float_zero_points = points_f32.data();
    }
  }
  return pack_nbits(source, workers);
}

// The kernel of the products `all`, whose weights it packs one after the other.
Kernel prepare_products(const NodeView& node, Prepare& with, const std::vector<Attributes>& all, bool gated) {
  const Attributes& a = all[0];
  const Activations activations = activations_for(a.accuracy_level);
  NBitsProduct product = {.cpu = with.cpu,
                          .parts = {},
                          .activations = activations,
                          .op = node.node().op,
                          .route = fmt::format("int{} b{} {}", a.bits, a.block, name_of(activations)),
                          .gated = gated};
  std::vector<int> packed;
  int64_t bytes = 0;
  for (const Attributes& one : all) {
    expect_ordered_groups(node, one);
    product.parts.push_back({std::make_shared<const PackedNBits>(pack(node, one, with.workers)), one.bias()});
    bytes += product.parts.back().weights->bytes();
    packed.insert(packed.end(), {one.b(), one.scales()});
    if (node.has_input(one.zero_points())) packed.push_back(one.zero_points());
  }
  Kernel kernel = [product](const Args& args, Workers& workers) { product.run(args, workers); };
  kernel.workspace = [product](const Args& args, int width) { return product.workspace(args, width); };
  kernel.packed_inputs = std::move(packed);
  kernel.packed_bytes = bytes;
  return kernel;
}

Kernel prepare(const NodeView& node, Prepare& with) { return prepare_products(node, with, {Attributes(node)}, false); }

std::vector<Attributes> products_of(const NodeView& node) {
  const std::vector<int64_t> columns = node.ints("N");
  const auto count = static_cast<int>(columns.size());
  if (count < 1 || count > NBitsProduct::kMostParts) {
    node.fail(fmt::format("N has {} elements, expected 1 to {}", count, NBitsProduct::kMostParts));
  }
  if (node.i64("gated", 0) != 0 && (count != 2 || columns[0] != columns[1])) {
    node.fail("gated is set, expected two equal elements in N");
  }
  node.expect_inputs(3, 1 + kInputs * count);
  std::vector<Attributes> all;
  for (int i = 0; i < count; ++i) all.emplace_back(node, columns[static_cast<size_t>(i)], 1 + kInputs * i);
  return all;
}

std::vector<TensorType> infer_group(const NodeView& node) {
  std::vector<TensorType> types;
  for (const Attributes& one : products_of(node)) types.push_back(infer_product(node, one));
  if (node.i64("gated", 0) != 0) types.resize(1);
  return types;
}

Kernel prepare_group(const NodeView& node, Prepare& with) {
  return prepare_products(node, with, products_of(node), node.i64("gated", 0) != 0);
}

const std::array kOps = {
    OpDef{.domain = "com.microsoft", .name = "MatMulNBits", .infer = infer, .prepare = prepare},
    OpDef{.domain = "nxrt", .name = "MatMulNBitsGroup", .infer = infer_group, .prepare = prepare_group}};
}  // namespace

std::span<const OpDef> matmul_nbits() { return kOps; }

}  // namespace nxrt::ops
