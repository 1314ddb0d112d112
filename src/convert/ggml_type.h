// The tensor element types of GGML that a GGUF file names by number, and how their blocks are stored.
//
// Source: the published GGUF specification and block layouts of ggml-common.
// Threads: constant data. Errors: none.
#pragma once

#include <cstdint>

namespace genai {

enum class GgmlType : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  bf16 = 30,
};

struct GgmlTypeInfo {
  GgmlType type;
  const char* name;    // "Q4_K"
  int block_elements;  // along dims[0]
  int block_bytes;
};

// Null when this program cannot read the type.
const GgmlTypeInfo* find_ggml_type(uint32_t number);
inline const GgmlTypeInfo& info_of(GgmlType type) { return *find_ggml_type(static_cast<uint32_t>(type)); }

// "IQ4_NL" for types of the format that are not read, "unknown" for numbers that are none.
const char* name_of_unread_ggml_type(uint32_t number);

}  // namespace genai
