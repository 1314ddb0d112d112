// What this process may use of the machine: instruction sets, CPUs, memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nxrt {

enum class Isa { scalar, avx2, avx512, vnni, amx, neon };  // weaker to stronger within a family

std::string_view name_of(Isa isa);
bool has(Isa isa);                 // this machine and operating system can run it
std::span<const Isa> available();  // those this machine has, weakest first; scalar always
Isa best_isa();

int allowed_cpus();             // affinity ∩ cgroup quota, at least 1
int64_t allowed_memory();       // bytes: physical memory ∩ cgroup limit
int64_t peak_resident_bytes();  // of this process so far (VmHWM)
int64_t resident_bytes();
std::string cpu_model();

}  // namespace nxrt
