#include "base/process_gate.h"

namespace nxrt {

bool ProcessGate::settle() noexcept { return publish_from_environment(env_is_true(name_) || env_is_true(also_)); }

namespace gates {

ProcessGate& phase_profile() {
  static constinit ProcessGate gate(EnvName::exec_phase_profile);
  return gate;
}

ProcessGate& activation_memory_plan() {
  static constinit ProcessGate gate(EnvName::activation_memory_plan);
  return gate;
}

ProcessGate& dispatch_ledger() {
  static constinit ProcessGate gate(EnvName::cpu_dispatch_ledger);
  return gate;
}

}  // namespace gates
}  // namespace nxrt
