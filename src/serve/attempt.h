// Work whose failure must not reach a caller that can't answer for it: evictions, journals, the end of the server.
//
//   if (const std::optional<nxrt::Error> failure = attempt([&] { store.save(session); })) log(failure->text());
//
// Threads: any. Errors: none; what `work` throws is returned.
#pragma once

#include <functional>
#include <optional>

#include "base/error.h"

namespace genai::serve {

std::optional<nxrt::Error> attempt(const std::function<void()>& work) noexcept;

}  // namespace genai::serve
