// Checks of option values whose messages say what was expected.
#pragma once

#include <CLI/CLI.hpp>

namespace genai::cli {

CLI::Validator above_zero();
CLI::Validator not_negative();
CLI::Validator unsigned_integer();  // 0 to 2⁶⁴ − 1

}  // namespace genai::cli
