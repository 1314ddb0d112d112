// A fixed team of threads for compute. The thread that calls is worker 0; the others spin briefly, then park.
//
//   Workers workers(2);
//   workers.each(rows, [&](int64_t r) { … });                       // static, contiguous shards
//   workers.shards(n, 64, [&](int64_t begin, int64_t end, int worker) { … });
//
// Threads: one dispatcher at a time (a second concurrent one runs its work inline); a body must not dispatch again.
// Errors:  bodies are noexcept in effect: an exception out of a body terminates.
// Memory:  dispatch allocates nothing. Idle workers use no CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace nxrt {

class Workers {
 public:
  explicit Workers(int width);  // width >= 1, the caller included
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int width() const noexcept { return width_; }

  // Runs body(worker) once on each of `width()` workers and returns when all have.
  template <class F>
  void everyone(F&& body) {
    if (width_ == 1) return body(0);
    run([](void* context, int worker) { (*static_cast<std::remove_reference_t<F>*>(context))(worker); }, &body);
  }
  // Splits [0, n) into at most width() contiguous ranges whose inner bounds are multiples of `grain`.
  template <class F>
  void shards(int64_t n, int64_t grain, F&& body) {
    const int64_t units = (n + grain - 1) / grain;
    if (units <= 1 || width_ == 1) {
      if (n > 0) body(int64_t{0}, n, 0);
      return;
    }
    everyone([&](int worker) {
      const int64_t begin = units * worker / width_ * grain, end = units * (worker + 1) / width_ * grain;
      if (begin < end && begin < n) body(begin, end < n ? end : n, worker);
    });
  }
  template <class F>
  void each(int64_t n, F&& body) {
    shards(n, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) body(i);
    });
  }

 private:
  using Job = void (*)(void* context, int worker);
  void run(Job job, void* context);
  struct Team;
  int width_;
  std::unique_ptr<Team> team_;
};

}  // namespace nxrt
