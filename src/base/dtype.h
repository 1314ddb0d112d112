// Element types, numbered as ONNX's TensorProto.DataType numbers them.
#pragma once

#include <cstdint>
#include <string_view>

namespace nxrt {

enum class DType : uint8_t {
  none = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
};
inline constexpr int kDTypeCount = 27;

bool is_known(int onnx_number);            // 1..26
int bits_of(DType dtype);                  // per element: 2, 4, 8, …; 0 for none and string
std::string_view name_of(DType dtype);     // "f32", "i64", "bool", … as the graph text form writes them
DType dtype_named(std::string_view name);  // DType::none when unknown
bool is_float(DType dtype);                // f64, f32, f16, bf16
bool is_integer(DType dtype);              // i8…i64, u8…u64

// Bytes of `count` packed elements (sub-byte types round up). `count` >= 0; -1 on overflow of int64.
int64_t bytes_of(DType dtype, int64_t count);

// C++ type → DType.
template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType dtype_of<int8_t>() {
  return DType::i8;
}
template <>
constexpr DType dtype_of<uint16_t>() {
  return DType::u16;
}
template <>
constexpr DType dtype_of<int16_t>() {
  return DType::i16;
}
template <>
constexpr DType dtype_of<uint32_t>() {
  return DType::u32;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<uint64_t>() {
  return DType::u64;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}

}  // namespace nxrt
