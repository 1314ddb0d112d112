// The version of nxrt, genai and the program: one number for all.
#pragma once

namespace nxrt {
inline constexpr const char* kVersion = "0.1.0";
}
