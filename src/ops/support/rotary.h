// Rotary position embedding from cached cosines and sines, as com.microsoft operators take them.
#pragma once

#include "ops/op.h"

namespace nxrt::ops {

struct Rotary {
  const Kernels* cpu = nullptr;
  DType dtype = DType::f32;
  const void* cos = nullptr;  // [positions, half] of `dtype`
  const void* sin = nullptr;
  int64_t positions = 0, half = 0;  // half: of the elements that rotate
  bool interleaved = false;

  // Inputs cos_cache and sin_cache of a node.
  static Rotary of(const Kernels& cpu, const Args& args, int cos_input, bool interleaved);

  // One head [dim]; y may be x; scratch: [2·half]. A position outside the cache takes the nearest row: callers check
  // the context length, this only keeps reads inside the table.
  void apply(const float* x, float* y, int64_t dim, int64_t position, float* scratch) const;
};

// cos_cache and sin_cache are [positions, half] with 2·half <= head_dim.
void expect_rotary_caches(const NodeView& node, int cos_input, int64_t head_dim);

}  // namespace nxrt::ops
