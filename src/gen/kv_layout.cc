#include "gen/kv_layout.h"

#include <fmt/format.h>

#include "base/error.h"

namespace genai {
namespace {
constexpr int64_t kAlignment = 64;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
}  // namespace

KvLayout make_kv_layout(std::span<const KvHeads> layers, nxrt::DType dtype) {
  if (dtype != nxrt::DType::f32 && dtype != nxrt::DType::f16) {
    throw nxrt::Error(nxrt::Code::unsupported,
                      fmt::format("KV cache type is {}, expected f32 or f16", nxrt::name_of(dtype)));
  }
  const int64_t element = dtype == nxrt::DType::f32 ? 4 : 2;
  KvLayout layout{.dtype = dtype};
  for (const KvHeads& heads : layers) {
    if (heads.kv_heads <= 0 || heads.head_dim <= 0) {
      throw nxrt::Error(nxrt::Code::invalid_argument,
                        fmt::format("layer {} has {} KV heads of size {}, expected positive numbers",
                                    layout.layers.size(), heads.kv_heads, heads.head_dim));
    }
    const int64_t bytes = aligned(int64_t{heads.kv_heads} * heads.head_dim * kBlockTokens * element);
    layout.layers.push_back({.k_offset = layout.block_bytes,
                             .v_offset = layout.block_bytes + bytes,
                             .kv_heads = heads.kv_heads,
                             .head_dim = heads.head_dim});
    layout.block_bytes += 2 * bytes;
  }
  return layout;
}

}  // namespace genai
