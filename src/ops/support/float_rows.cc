#include "ops/support/float_rows.h"

#include <cstring>

namespace nxrt::ops {

bool is_row_dtype(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

const float* as_floats(const Kernels& cpu, DType dtype, const void* data, int64_t offset, int64_t n, float* scratch) {
  if (dtype == DType::f32) return static_cast<const float*>(data) + offset;
  if (dtype == DType::f16) {
    cpu.half_to_float(static_cast<const Half*>(data) + offset, scratch, n);
  } else {
    cpu.bfloat16_to_float(static_cast<const BFloat16*>(data) + offset, scratch, n);
  }
  return scratch;
}

float* float_target(DType dtype, void* data, int64_t offset, float* scratch) {
  return dtype == DType::f32 ? static_cast<float*>(data) + offset : scratch;
}

void store_floats(const Kernels& cpu, DType dtype, const float* values, void* data, int64_t offset, int64_t n) {
  if (dtype == DType::f16) return cpu.float_to_half(values, static_cast<Half*>(data) + offset, n);
  if (dtype == DType::bf16) return cpu.float_to_bfloat16(values, static_cast<BFloat16*>(data) + offset, n);
  float* target = static_cast<float*>(data) + offset;
  if (target != values) std::memcpy(target, values, static_cast<size_t>(n) * sizeof(float));
}

std::vector<float> to_floats(const Tensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < values.size(); ++i) {
    switch (tensor.dtype()) {
      case DType::f16: values[i] = to_float(static_cast<const Half*>(tensor.raw())[i]); break;
      case DType::bf16: values[i] = to_float(static_cast<const BFloat16*>(tensor.raw())[i]); break;
      default: values[i] = tensor.data<float>()[i];
    }
  }
  return values;
}

}  // namespace nxrt::ops
