#include "kernels/bandwidth.h"

#include <gtest/gtest.h>

namespace nxrt {
namespace {

TEST(ReadBandwidth, IsThatOfAMachine) {
  Workers workers(2);
  const double bytes_per_second = measure_read_bandwidth(workers, int64_t{16} << 20);
  EXPECT_GT(bytes_per_second, 1e8);
  EXPECT_LT(bytes_per_second, 1e13);
}

TEST(ReadBandwidth, TakesAnyWorkingSet) {
  Workers workers(1);
  EXPECT_GT(measure_read_bandwidth(workers, 1), 0.0);
}

}  // namespace
}  // namespace nxrt
