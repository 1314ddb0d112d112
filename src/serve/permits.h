// How many answers may run or wait at once; more are refused, never queued.
//
// Threads: any. Errors: none; a full house answers empty. Memory: the Permits must outlive each Permit.
#pragma once

#include <atomic>
#include <optional>
#include <utility>

namespace genai::serve {

class Permits {
 public:
  class [[nodiscard]] Permit {
   public:
    Permit(Permit&& other) noexcept : from_(std::exchange(other.from_, nullptr)), count_(other.count_) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (from_ != nullptr) from_->free_.fetch_add(count_);
    }

   private:
    friend class Permits;
    Permit(Permits& from, int count) : from_(&from), count_(count) {}
    Permits* from_;
    int count_;
  };

  explicit Permits(int count) : count_(count), free_(count) {}

  std::optional<Permit> take(int count) {
    int free = free_.load();
    while (free >= count) {
      if (free_.compare_exchange_weak(free, free - count)) return Permit(*this, count);
    }
    return std::nullopt;
  }
  int free() const { return free_.load(); }
  int count() const { return count_; }

 private:
  const int count_;
  std::atomic<int> free_;
};

}  // namespace genai::serve
