// Where the time went: phases and operators, as a table and as a Chrome/Perfetto trace. Unmeasured is absent, never 0.
//
// Off: one relaxed load per run. On: gates::phase_profile() or start().
// Threads: filled by the running thread; read between runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nxrt::exec {

class Profile {
 public:
  struct Row {
    std::string name;  // "op MatMulNBits", "phase bind_inputs"
    int64_t calls = 0;
    double total_ms = 0;
  };
  void start(bool keep_events);  // keep_events: for trace(); at most kMaxEvents are kept, drops are counted
  void stop();
  bool on() const { return on_; }
  void phase(std::string_view name, int64_t begin_ns, int64_t end_ns);
  void op(std::string_view op, std::string_view node, int64_t begin_ns, int64_t end_ns);

  std::vector<Row> rows() const;  // by total time, largest first
  std::string table() const;
  std::string trace_json() const;  // Chrome trace event format, loads in Perfetto
  int64_t dropped_events() const { return dropped_; }
  void reset();
  static int64_t now_ns();
  static constexpr size_t kMaxEvents = 1'000'000;

 private:
  struct Event {
    std::string name, detail;
    int64_t begin_ns, end_ns;
  };
  void add(std::string_view kind, std::string_view name, int64_t begin_ns, int64_t end_ns);
  void keep(std::string_view name, std::string_view detail, int64_t begin_ns, int64_t end_ns);

  bool on_ = false, keep_events_ = false;
  std::vector<Row> rows_;                          // in first-seen order
  std::unordered_map<std::string, size_t> index_;  // row of a name
  std::vector<Event> events_;
  int64_t dropped_ = 0;
};

}  // namespace nxrt::exec
