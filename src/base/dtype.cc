#include "base/dtype.h"

#include <array>
#include <limits>

namespace nxrt {
namespace {

struct Row {
  std::string_view name;
  int bits;
};
constexpr std::array<Row, kDTypeCount> kRows = {{
    {"none", 0}, {"f32", 32},   {"u8", 8},     {"i8", 8},       {"u16", 16},       {"i16", 16},   {"i32", 32},
    {"i64", 64}, {"string", 0}, {"bool", 8},   {"f16", 16},     {"f64", 64},       {"u32", 32},   {"u64", 64},
    {"c64", 64}, {"c128", 128}, {"bf16", 16},  {"f8e4m3fn", 8}, {"f8e4m3fnuz", 8}, {"f8e5m2", 8}, {"f8e5m2fnuz", 8},
    {"u4", 4},   {"i4", 4},     {"f4e2m1", 4}, {"f8e8m0", 8},   {"u2", 2},         {"i2", 2},
}};

}  // namespace

bool is_known(int onnx_number) { return onnx_number > 0 && onnx_number < kDTypeCount; }
int bits_of(DType dtype) { return kRows[static_cast<size_t>(dtype)].bits; }
std::string_view name_of(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }

DType dtype_named(std::string_view name) {
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return DType::none;
}

bool is_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f64;
}

bool is_integer(DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::i8:
    case DType::u16:
    case DType::i16:
    case DType::u32:
    case DType::i32:
    case DType::u64:
    case DType::i64: return true;
    default: return false;
  }
}

int64_t bytes_of(DType dtype, int64_t count) {
  const int64_t bits = bits_of(dtype);
  if (bits != 0 && count > (std::numeric_limits<int64_t>::max() - 7) / bits) return -1;
  return (count * bits + 7) / 8;
}

}  // namespace nxrt
