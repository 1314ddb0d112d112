// The figures of /metrics: counters and histograms of requests and answers. What the engine knows is read from its
// snapshot when somebody asks.
//
// Threads: any; nothing waits for the engine. Errors: none.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace genai::serve {

class Histogram {
 public:
  static constexpr std::array kBounds = {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,
                                         0.3,   0.5,  0.75,  1.0,  2.5,   5.0, 15.0, 60.0};
  void observe(double seconds);
  void write(std::string& out, std::string_view name, std::string_view help) const;

 private:
  std::array<std::atomic<int64_t>, kBounds.size() + 1> counts_{};
  std::atomic<int64_t> sum_us_{0};
};

class Metrics {
 public:
  void request(std::string_view endpoint, int status);
  void refusal(std::string_view code);

  Histogram first_token, inter_token, end_to_end, journal_sync;
  std::atomic<int64_t> prompt_tokens{0}, completion_tokens{0}, cached_tokens{0}, prefix_lookups{0}, prefix_hits{0};
  std::atomic<int64_t> stalled{0}, cancelled{0}, failed{0}, journal_failures{0};
  std::atomic<int64_t> connections{0};

  void write(std::string& out) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, int64_t> requests_;
  std::map<std::string, int64_t, std::less<>> refusals_;
};

// One figure in Prometheus' text form. `labels` as they stand between the braces, or empty.
void write_metric(std::string& out, std::string_view type, std::string_view name, std::string_view help, double value,
                  std::string_view labels = {});

}  // namespace genai::serve
