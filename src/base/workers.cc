#include "base/workers.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"

namespace nxrt {
namespace {

// How long to spin before parking in the kernel. A worker that parked at once would pay a wake-up for each operator of
// a decode step, which dispatches every few tens of microseconds; one that never parked would burn an idle CPU. The
// dispatcher waits longer: its workers are at work, and on a busy host a CPU once given up comes back late.
constexpr std::chrono::microseconds kIdleSpin(100), kJoinSpin(300);
// Within an operator the others are done in a moment; later the thread waited for may want this very CPU.
constexpr std::chrono::microseconds kBeforeYielding(20);
constexpr int kPausesBetweenLooksAtTheClock = 64;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Spins, then blocks, until `word` differs from `old`.
void wait_for_change(const std::atomic<uint32_t>& word, uint32_t old, std::chrono::microseconds spin) {
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration waited(0);
  for (; waited < spin; waited = std::chrono::steady_clock::now() - begin) {
    if (waited > kBeforeYielding) std::this_thread::yield();
    for (int i = 0; i < kPausesBetweenLooksAtTheClock; ++i) {
      if (word.load(std::memory_order_acquire) != old) return;
      pause();
    }
  }
  word.wait(old, std::memory_order_acquire);
}

}  // namespace

struct Workers::Team {
  std::mutex dispatching;               // one dispatcher at a time
  std::atomic<uint32_t> generation{0};  // bumped for each job, and once to stop
  std::atomic<uint32_t> running{0};     // helpers that have not finished this job
  std::atomic<bool> stopping{false};
  Job job = nullptr;
  void* context = nullptr;
  std::vector<std::thread> threads;

  void loop(int worker) {
    uint32_t seen = 0;
    for (;;) {
      wait_for_change(generation, seen, kIdleSpin);
      seen = generation.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_relaxed)) return;
      job(context, worker);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) running.notify_one();
    }
  }
};

Workers::Workers(int width) : width_(width) {
  if (width < 1) throw Error(Code::invalid_argument, "threads is " + std::to_string(width) + ", expected at least 1");
  if (width == 1) return;
  team_ = std::make_unique<Team>();
  for (int worker = 1; worker < width; ++worker) team_->threads.emplace_back([this, worker] { team_->loop(worker); });
}

Workers::~Workers() {
  if (!team_) return;
  team_->stopping.store(true, std::memory_order_relaxed);
  team_->generation.fetch_add(1, std::memory_order_release);
  team_->generation.notify_all();
  for (std::thread& thread : team_->threads) thread.join();
}

void Workers::run(Job job, void* context) {
  const std::unique_lock lock(team_->dispatching, std::try_to_lock);
  if (!lock) {  // somebody else has the team: the caller does every worker's share itself
    for (int worker = 0; worker < width_; ++worker) job(context, worker);
    return;
  }
  team_->job = job;
  team_->context = context;
  team_->running.store(static_cast<uint32_t>(width_ - 1), std::memory_order_relaxed);
  team_->generation.fetch_add(1, std::memory_order_release);
  team_->generation.notify_all();
  job(context, 0);
  for (uint32_t left; (left = team_->running.load(std::memory_order_acquire)) != 0;) {
    wait_for_change(team_->running, left, kJoinSpin);
  }
}

}  // namespace nxrt
