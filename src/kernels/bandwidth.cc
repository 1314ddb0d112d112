#include "kernels/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/cpu.h"
#include "kernels/kernels.h"
#include "kernels/pack.h"

namespace nxrt {
namespace {

constexpr int kPasses = 3;
constexpr int64_t kPage = 4096;

double seconds_of_a_pass(Workers& workers, const float* data, int64_t floats) {
  const auto sum = kernels_for(best_isa()).sum;
  std::atomic<float> used{0.0f};  // keeps the reads
  const auto begin = std::chrono::steady_clock::now();
  workers.shards(floats, kPage / 4, [&](int64_t first, int64_t last, int) {
    used.store(sum(data + first, last - first), std::memory_order_relaxed);
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

double measure_read_bandwidth(Workers& workers, int64_t working_set) {
  const int64_t bytes = std::max(kPage, std::min(working_set, allowed_memory() / 4) / kPage * kPage);
  const AlignedBytes data = allocate_aligned(bytes);
  // Touched by the workers that will read it, so that pages lie near them.
  workers.shards(bytes, kPage, [&](int64_t first, int64_t last, int) {
    std::memset(data.get() + first, 0, static_cast<size_t>(last - first));
  });
  double best = seconds_of_a_pass(workers, reinterpret_cast<const float*>(data.get()), bytes / 4);
  for (int i = 1; i < kPasses; ++i) {
    best = std::min(best, seconds_of_a_pass(workers, reinterpret_cast<const float*>(data.get()), bytes / 4));
  }
  return static_cast<double>(bytes) / best;
}

}  // namespace nxrt
