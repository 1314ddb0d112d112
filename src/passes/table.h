// The generated list of passes.
#pragma once

#include "passes/pass.h"

namespace nxrt::passes {
std::span<const Pass> all_passes();
}  // namespace nxrt::passes
