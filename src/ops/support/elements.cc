#include "ops/support/elements.h"

namespace nxrt::ops {
namespace {

template <class T>
std::vector<Dim> read(const Tensor& tensor) {
  std::vector<Dim> dims;
  for (const T value : tensor.span<T>()) dims.emplace_back(static_cast<int64_t>(value));
  return dims;
}

}  // namespace

std::optional<std::vector<Dim>> elements_of(const Tensor& tensor) {
  if (tensor.count() > kMaxPropagatedElements) return std::nullopt;
  switch (tensor.dtype()) {
    case DType::i64: return read<int64_t>(tensor);
    case DType::i32: return read<int32_t>(tensor);
    case DType::i16: return read<int16_t>(tensor);
    case DType::i8: return read<int8_t>(tensor);
    case DType::u8: return read<uint8_t>(tensor);
    case DType::u16: return read<uint16_t>(tensor);
    case DType::u32: return read<uint32_t>(tensor);
    case DType::boolean: return read<bool>(tensor);
    default: return std::nullopt;  // u64 may not fit a dim
  }
}

}  // namespace nxrt::ops
