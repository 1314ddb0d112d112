#include "base/cpu.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

namespace nxrt {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The cgroup folders that limit this process, innermost first (v2), then the v1 roots.
std::vector<std::string> cgroup_folders() {
  std::vector<std::string> folders;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    for (std::string path = line.substr(3); path.size() > 1; path.resize(path.find_last_of('/'))) {
      folders.push_back("/sys/fs/cgroup" + path);
    }
  }
  folders.push_back("/sys/fs/cgroup");
  return folders;
}

// CPUs the cgroup's quota amounts to, rounded up; a large number without a quota.
int quota_cpus() {
  double cpus = 1e9;
  for (const std::string& folder : cgroup_folders()) {
    std::istringstream fields(first_line(folder + "/cpu.max"));
    double quota = 0, period = 0;
    if (fields >> quota >> period && period > 0) cpus = std::min(cpus, quota / period);
  }
  std::istringstream quota_v1(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
  std::istringstream period_v1(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  double quota = 0, period = 0;
  if (quota_v1 >> quota && period_v1 >> period && quota > 0 && period > 0) cpus = std::min(cpus, quota / period);
  return static_cast<int>(std::max(1.0, std::min(cpus + 0.999, 1e6)));
}

int64_t status_kib(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) == 0) return std::atoll(line.c_str() + key.size());
  }
  return 0;
}

}  // namespace

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::scalar: return "scalar";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
    case Isa::vnni: return "vnni";
    case Isa::amx: return "amx";
    case Isa::neon: return "neon";
  }
  return "unknown";
}

bool has(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::scalar: return true;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    case Isa::avx512:
      return has(Isa::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case Isa::vnni: return has(Isa::avx512) && __builtin_cpu_supports("avx512vnni");
    default: return false;
  }
#else
  return isa == Isa::scalar;
#endif
}

std::span<const Isa> available() {
  static const std::vector<Isa> all = [] {
    std::vector<Isa> isas;
    for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512, Isa::vnni, Isa::amx, Isa::neon}) {
      if (has(isa)) isas.push_back(isa);
    }
    return isas;
  }();
  return all;
}

Isa best_isa() { return available().back(); }

int allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (sched_getaffinity(0, sizeof set, &set) == 0) cpus = CPU_COUNT(&set);
  return std::max(1, std::min(cpus, quota_cpus()));
}

int64_t allowed_memory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::vector<std::string> files = {"/sys/fs/cgroup/memory/memory.limit_in_bytes"};
  for (const std::string& folder : cgroup_folders()) files.push_back(folder + "/memory.max");
  for (const std::string& file : files) {
    const int64_t limit = std::atoll(first_line(file).c_str());  // "max" reads as 0
    if (limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

int64_t peak_resident_bytes() { return status_kib("VmHWM:") * 1024; }
int64_t resident_bytes() { return status_kib("VmRSS:") * 1024; }

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace nxrt
