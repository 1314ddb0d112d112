// Turns what went wrong into one message on stderr and an exit code.
//
// Threads: one. Errors: none leave it.
#pragma once

#include <functional>

namespace genai::cli {

// What `action` returns, or after an Error (a usage error, a lack of memory) the exit code that goes with it.
int report_errors(const std::function<int()>& action);

}  // namespace genai::cli
