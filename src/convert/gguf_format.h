// The numbers of the GGUF format, shared by its parser and its accessors.
#pragma once

#include <cstdint>

namespace genai::gguf {

inline constexpr uint32_t kU8 = 0, kI8 = 1, kU16 = 2, kI16 = 3, kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kString = 8,
                          kArray = 9, kU64 = 10, kI64 = 11, kF64 = 12;

int bytes_of_scalar(uint32_t type);       // 0 for strings, arrays and unknown numbers
const char* name_of_type(uint32_t type);  // "u32", "string", …, "unknown"
inline bool is_real(uint32_t type) { return type == kF32 || type == kF64; }

}  // namespace genai::gguf
