// What this machine can read from memory, the limit of decoding one stream: tokens/s <= bandwidth / bytes of weights.
//
//   const double limit = measure_read_bandwidth(workers) / static_cast<double>(weights.bytes());
//
// Threads: uses every worker. Memory: allocates the working set and frees it. Time: under a second with the default.
// Errors:  throws Error{out_of_capacity} when the working set can't be had.
#pragma once

#include <cstdint>

#include "base/workers.h"

namespace nxrt {

inline constexpr int64_t kBandwidthWorkingSet = int64_t{1} << 30;  // bytes; far past any cache

// Bytes per second, the best of a few passes over a working set that all workers share in equal parts. The working set
// is at most a quarter of the memory this process may use.
double measure_read_bandwidth(Workers& workers, int64_t working_set = kBandwidthWorkingSet);

}  // namespace nxrt
