#include "convert/ggml_type.h"

#include <algorithm>
#include <array>
#include <utility>

namespace genai {
namespace {

constexpr std::array<GgmlTypeInfo, 13> kTypes = {{
    {GgmlType::f32, "F32", 1, 4},
    {GgmlType::f16, "F16", 1, 2},
    {GgmlType::q4_0, "Q4_0", 32, 18},
    {GgmlType::q4_1, "Q4_1", 32, 20},
    {GgmlType::q5_0, "Q5_0", 32, 22},
    {GgmlType::q5_1, "Q5_1", 32, 24},
    {GgmlType::q8_0, "Q8_0", 32, 34},
    {GgmlType::q2_k, "Q2_K", 256, 84},
    {GgmlType::q3_k, "Q3_K", 256, 110},
    {GgmlType::q4_k, "Q4_K", 256, 144},
    {GgmlType::q5_k, "Q5_K", 256, 176},
    {GgmlType::q6_k, "Q6_K", 256, 210},
    {GgmlType::bf16, "BF16", 1, 2},
}};

constexpr std::array<std::pair<uint32_t, const char*>, 17> kUnread = {{
    {9, "Q8_1"},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS"},
    {24, "I8"},
    {25, "I16"},
    {26, "I32"},
    {27, "I64"},
    {28, "F64"},
    {29, "IQ1_M"},
    {39, "MXFP4"},
}};

}  // namespace

const GgmlTypeInfo* find_ggml_type(uint32_t number) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const GgmlTypeInfo& t) { return static_cast<uint32_t>(t.type) == number; });
  return found == kTypes.end() ? nullptr : found;
}

const char* name_of_unread_ggml_type(uint32_t number) {
  const auto* found = std::find_if(kUnread.begin(), kUnread.end(), [&](const auto& t) { return t.first == number; });
  return found == kUnread.end() ? "unknown" : found->second;
}

}  // namespace genai
