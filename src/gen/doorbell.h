// Wakes the engine's thread: a new request, a cancelled one, a reader that made room.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace genai {

class Doorbell {
 public:
  void ring() {
    {
      const std::lock_guard lock(mutex_);
      rung_ = true;
    }
    rang_.notify_one();
  }
  // Until the next ring since the last wait, at most `limit`. False: it was the limit.
  bool wait_for(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    const bool rung = rang_.wait_for(lock, limit, [this] { return rung_; });
    rung_ = false;
    return rung;
  }

 private:
  std::mutex mutex_;
  std::condition_variable rang_;
  bool rung_ = false;
};

}  // namespace genai
