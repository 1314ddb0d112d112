// Runs a parsed template.
//
// Limits (a template comes from a stranger's model folder): kMaxSteps statements and loop turns, kMaxOutput bytes,
// kMaxCalls nested macro calls.
// Threads: one render each. Errors: Error{invalid_argument} with where:line:column; raise_exception's message is the
// Error's message as it is.
#pragma once

#include <string>

#include "text/jinja/ast.h"

namespace genai::jinja {

inline constexpr int64_t kMaxSteps = 2'000'000;
inline constexpr size_t kMaxOutput = size_t{64} << 20;
inline constexpr int kMaxCalls = 64;

std::string render(const Body& program, const Value& variables, const std::string& where);

}  // namespace genai::jinja
