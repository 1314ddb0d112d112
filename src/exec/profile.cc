#include "exec/profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace nxrt::exec {
namespace {

std::string json_text(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      quoted += c;
    }
  }
  return quoted;
}

constexpr double milliseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

}  // namespace

int64_t Profile::now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Profile::start(bool keep_events) {
  on_ = true;
  keep_events_ = keep_events;
}

void Profile::stop() { on_ = false; }

void Profile::reset() {
  rows_.clear();
  index_.clear();
  events_.clear();
  dropped_ = 0;
}

void Profile::phase(std::string_view name, int64_t begin_ns, int64_t end_ns) {
  add("phase ", name, begin_ns, end_ns);
  keep(name, {}, begin_ns, end_ns);
}

void Profile::op(std::string_view op, std::string_view node, int64_t begin_ns, int64_t end_ns) {
  add("op ", op, begin_ns, end_ns);
  keep(op, node, begin_ns, end_ns);
}

void Profile::add(std::string_view kind, std::string_view name, int64_t begin_ns, int64_t end_ns) {
  std::string key(kind);
  key += name;
  const auto [at, fresh] = index_.try_emplace(std::move(key), rows_.size());
  if (fresh) rows_.push_back({at->first});
  Row& row = rows_[at->second];
  ++row.calls;
  row.total_ms += milliseconds(end_ns - begin_ns);
}

void Profile::keep(std::string_view name, std::string_view detail, int64_t begin_ns, int64_t end_ns) {
  if (!keep_events_) return;
  if (events_.size() >= kMaxEvents) {
    ++dropped_;
    return;
  }
  events_.push_back({std::string(name), std::string(detail), begin_ns, end_ns});
}

std::vector<Profile::Row> Profile::rows() const {
  std::vector<Row> sorted = rows_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) { return a.total_ms > b.total_ms; });
  return sorted;
}

std::string Profile::table() const {
  std::string text = fmt::format("{:<40} {:>10} {:>12} {:>12}\n", "name", "calls", "total ms", "us/call");
  for (const Row& row : rows()) {
    text += fmt::format("{:<40} {:>10} {:>12.3f} {:>12.2f}\n", row.name, row.calls, row.total_ms,
                        1000.0 * row.total_ms / static_cast<double>(row.calls));
  }
  return text;
}

std::string Profile::trace_json() const {
  std::string text = "{\"traceEvents\":[";
  const char* separator = "\n";
  for (const Event& event : events_) {
    text += fmt::format(R"({}{{"name":"{}","ph":"X","pid":1,"tid":1,"ts":{:.3f},"dur":{:.3f},"args":{{"node":"{}"}}}})",
                        separator, json_text(event.name), static_cast<double>(event.begin_ns) * 1e-3,
                        static_cast<double>(event.end_ns - event.begin_ns) * 1e-3, json_text(event.detail));
    separator = ",\n";
  }
  return text + fmt::format("\n],\"otherData\":{{\"dropped_events\":{}}}}}\n", dropped_);
}

}  // namespace nxrt::exec
