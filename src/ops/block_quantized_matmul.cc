// pkg.nxrt BlockQuantizedMatMul: y = A · dequantize(packed_B)ᵀ (+ bias) with the blocks of GGUF files.
// Inputs: A [..., K]; packed_B u8 [N, ceil(K/QK), block_bytes]; bias? [N]. Attributes: K, N, format,
// block_layout_version 1. Formats: those whose elements are 16 levels times one scale per 32 (mxfp4 of the OCP
// microscaling specification, and iq4_nl); they become 8-bit weights without loss.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "ops/op.h"
#include "ops/support/float_rows.h"
#include "ops/support/nbits_product.h"

namespace nxrt::ops {
namespace {

constexpr int64_t kBlock = 32;

struct Format {
  std::string_view name;
  int64_t bytes;  // per block: the scale, then 16 bytes; byte i holds elements i (low nibble) and i + 16
  float (*scale)(const uint8_t* block);
  std::array<int8_t, 16> levels;
};

// A power of two 2^(e − 127), halved because the levels are doubled to be integers.
float half_e8m0(const uint8_t* block) {
  const uint32_t e = *block;
  return float_from(e < 2 ? 0x00200000u << e : (e - 1) << 23);
}
float half_scale(const uint8_t* block) {
  Half h;
  std::memcpy(&h, block, 2);
  return to_float(h);
}

constexpr std::array kFormats = {
    Format{"mxfp4", 17, half_e8m0, {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}},
    Format{"iq4_nl", 18, half_scale, {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}},
};

const Format& format_of(const NodeView& node) {
  const std::string name = node.str("format");
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
  }
  node.unsupported(fmt::format("format is '{}', expected mxfp4 or iq4_nl", name),
                   "import the model again without keeping this block format");
}

struct Attributes {
  int64_t n, k;
  explicit Attributes(const NodeView& node) : n(node.i64("N")), k(node.i64("K")) {
    if (n < 1 || k < 1) node.fail(fmt::format("N is {} and K is {}, expected at least 1", n, k));
    if (const int64_t version = node.i64("block_layout_version", 1); version != 1) {
      node.unsupported(fmt::format("block_layout_version is {}, expected 1", version));
    }
  }
  int64_t blocks() const { return (k + kBlock - 1) / kBlock; }
};

std::vector<TensorType> infer(const NodeView& node) {
  node.expect_inputs(2, 3);
  const Attributes a(node);
  const Format& format = format_of(node);
  node.expect_dtype(0, kRowDTypes);
  node.expect_dtype(1, DType::u8);
  node.expect_shape(1, {a.n, a.blocks(), format.bytes});
  SymShape y = node.shape(0);
  if (y.rank() == 0 || contradict(y[y.rank() - 1], a.k)) {
    node.fail(fmt::format("input 0 has shape {}, expected its last dim to be K = {}", y.text(), a.k));
  }
  if (node.has_input(2)) {
    node.expect_same_dtype(2, 0);
    node.expect_shape(2, {a.n});
  }
  y[y.rank() - 1] = a.n;
  return {{.dtype = node.input(0).dtype, .shape = y}};
}

PackedNBits pack(const Format& format, const uint8_t* from, const Attributes& a, Workers& workers) {
  const int64_t blocks = a.n * a.blocks();
  std::vector<uint8_t> q(static_cast<size_t>(blocks * kBlock));
  std::vector<float> scales(static_cast<size_t>(blocks));
  workers.each(blocks, [&](int64_t b) {
    const uint8_t* block = from + b * format.bytes;
    const uint8_t* nibbles = block + format.bytes - 16;
    uint8_t* to = q.data() + b * kBlock;
    for (int i = 0; i < 16; ++i) {
      to[i] = static_cast<uint8_t>(128 + format.levels[nibbles[i] & 15]);
      to[i + 16] = static_cast<uint8_t>(128 + format.levels[nibbles[i] >> 4]);
    }
    scales[static_cast<size_t>(b)] = format.scale(block);
  });
  return pack_nbits({8, kBlock, a.n, a.k, q.data(), scales.data(), nullptr, nullptr, nullptr}, workers);
}

Kernel prepare(const NodeView& node, Prepare& with) {
  const Attributes a(node);
  const Format& format = format_of(node);
  const Tensor* packed = node.constant(1);
  if (!packed) node.unsupported("input 1 (packed_B) is computed at run time, expected an initializer");
  const auto weights = std::make_shared<const PackedNBits>(pack(format, packed->data<uint8_t>(), a, with.workers));
  const NBitsProduct product = {.cpu = with.cpu,
                                .parts = {{weights, 2}},
                                .activations = Activations::f32,
                                .op = "BlockQuantizedMatMul",
                                .route = fmt::format("{} f32", format.name)};
  Kernel kernel = [product](const Args& args, Workers& workers) { product.run(args, workers); };
  kernel.workspace = [product](const Args& args, int width) { return product.workspace(args, width); };
  kernel.packed_inputs = {1};
  kernel.packed_bytes = weights->bytes();
  return kernel;
}

const std::array kOps = {
    OpDef{.domain = "pkg.nxrt", .name = "BlockQuantizedMatMul", .infer = infer, .prepare = prepare}};
}  // namespace

std::span<const OpDef> block_quantized_matmul() { return kOps; }

}  // namespace nxrt::ops
