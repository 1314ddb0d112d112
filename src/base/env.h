// Every environment variable this program reads, and the only place that reads one.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace nxrt {

enum class EnvName { none, exec_phase_profile, activation_memory_plan, cpu_dispatch_ledger, home, no_color };

struct EnvVariable {
  EnvName id;
  const char* name;     // "NXRT_EXEC_PHASE_PROFILE"
  const char* meaning;  // one line for the documentation
};

std::span<const EnvVariable> env_variables();
std::optional<std::string> read_env(EnvName id);
bool env_is_true(EnvName id);  // "1" or "true" in any case

}  // namespace nxrt
