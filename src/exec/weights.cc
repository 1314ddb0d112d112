#include "exec/weights.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace nxrt::exec {
namespace {

constexpr int64_t kWorthFreeing = 64 << 10;

std::vector<bool> slots_read_while_running(const Plan& plan) {
  std::vector<bool> read(plan.slots.size());
  for (const Step& step : plan.steps) {
    for (size_t i = 0; i < step.in.size(); ++i) {
      if (step.in[i] >= 0 && !step.packed[i]) read[static_cast<size_t>(step.in[i])] = true;
    }
  }
  for (const int output : plan.outputs) read[static_cast<size_t>(output)] = true;
  return read;
}

}  // namespace

MappedPages::MappedPages() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0, inode = 0;
    char permissions[8] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %7s %*s %*s %llu", &begin, &end, permissions, &inode) != 4) continue;
    if (inode != 0 && permissions[1] == '-')
      ranges_.push_back({static_cast<uintptr_t>(begin), static_cast<uintptr_t>(end)});
  }
}

bool MappedPages::drop(const Tensor& tensor) const {
  const auto begin = reinterpret_cast<uintptr_t>(tensor.raw());
  const uintptr_t end = begin + static_cast<uintptr_t>(tensor.bytes());
  const bool mapped =
      std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.begin <= begin && end <= r.end; });
  if (!mapped) return false;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first < last)
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);  // advice: failure costs memory only
  return true;
}

void align_constants(Graph& graph) {
  for (const ValueId id : graph.values()) {
    std::optional<Tensor>& constant = graph.value(id).constant;
    if (!constant) continue;
    const auto size = static_cast<uintptr_t>(std::clamp(bits_of(constant->dtype()) / 8, 1, 8));
    if (reinterpret_cast<uintptr_t>(constant->raw()) % size == 0) continue;
    constant = constant->clone();
  }
}

int64_t release_packed(Graph& graph, const Plan& plan) {
  const std::vector<bool> read = slots_read_while_running(plan);
  const MappedPages pages;
  int64_t resident = 0;
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    if (plan.slots[i].home != Home::constant) continue;
    std::optional<Tensor>& constant = graph.value(plan.slots[i].value).constant;
    if (read[i]) {
      resident += constant->bytes();
      continue;
    }
    if (constant->bytes() >= kWorthFreeing && !pages.drop(*constant))
      constant = Tensor::borrow(constant->dtype(), constant->shape(), nullptr, nullptr);
  }
  return resident;
}

}  // namespace nxrt::exec
