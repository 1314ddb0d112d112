// What a fuzz target is made of: bytes in, and either a result or an nxrt::Error. Anything else is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace nxrt::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

template <class F>
void expect_result_or_error(F&& run) {
  try {
    run();
  } catch (const Error& error) {
    if (error.code() == Code::internal || error.message().empty()) __builtin_trap();
  }
}

}  // namespace nxrt::fuzz
