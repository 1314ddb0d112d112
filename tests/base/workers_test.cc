#include "base/workers.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "base/error.h"

namespace nxrt {
namespace {

TEST(Workers, EachCoversEveryIndexOnce) {
  for (const int width : {1, 2, 3, 7}) {
    Workers workers(width);
    for (const int64_t n : {0, 1, 2, 3, 8, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
      workers.each(n, [&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
      for (const auto& count : seen) EXPECT_EQ(count, 1) << width << ' ' << n;
    }
  }
}

TEST(Workers, ShardsBreakOnTheGrainAndStayInOrder) {
  Workers workers(3);
  for (const int64_t n : {1, 15, 16, 17, 100, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
    workers.shards(n, 16, [&](int64_t begin, int64_t end, int worker) {
      EXPECT_EQ(begin % 16, 0);
      EXPECT_TRUE(end % 16 == 0 || end == n);
      EXPECT_LT(worker, 3);
      for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(Workers, ManyShortJobsInARow) {
  Workers workers(4);
  int64_t total = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::atomic<int64_t> sum{0};
    workers.everyone([&](int worker) { sum += worker; });
    total += sum;
  }
  EXPECT_EQ(total, 2'000 * 6);
}

TEST(Workers, ASecondDispatcherRunsInline) {
  Workers workers(2);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) workers.each(10, [&](int64_t i) { sum += i; });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, 4 * 500 * 45);
}

TEST(Workers, IdleWorkersUseNoCpu) {
  Workers workers(4);
  workers.each(100, [](int64_t) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // let them park
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

TEST(Workers, RefusesNoThreads) { EXPECT_THROW(Workers(0), Error); }

}  // namespace
}  // namespace nxrt
