#include "base/env.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace nxrt {
namespace {

constexpr std::array kVariables = {
    EnvVariable{EnvName::exec_phase_profile, "NXRT_EXEC_PHASE_PROFILE",
                "1 or true: measure phases and operators of every run"},
    EnvVariable{EnvName::activation_memory_plan, "NXRT_ACTIVATION_MEMORY_PLAN",
                "1 or true: keep the activation planner's statistics of every run"},
    EnvVariable{EnvName::cpu_dispatch_ledger, "NXRT_CPU_DISPATCH_LEDGER", "1: record which kernel served each call"},
    EnvVariable{EnvName::home, "HOME", "where `run` keeps its line history"},
    EnvVariable{EnvName::no_color, "NO_COLOR", "set and not empty: no colours on the terminal"},
};

}  // namespace

std::span<const EnvVariable> env_variables() { return kVariables; }

std::optional<std::string> read_env(EnvName id) {
  const auto row = std::ranges::find(kVariables, id, &EnvVariable::id);
  if (row == kVariables.end()) return {};
  const char* value = std::getenv(row->name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

bool env_is_true(EnvName id) {
  std::optional<std::string> value = read_env(id);
  if (!value) return false;
  std::ranges::transform(*value, value->begin(), [](unsigned char c) { return std::tolower(c); });
  return *value == "1" || *value == "true";
}

}  // namespace nxrt
