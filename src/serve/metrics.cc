#include "serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace genai::serve {
namespace {
void head(std::string& out, std::string_view type, std::string_view name, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP onnx_genai_{0} {1}\n# TYPE onnx_genai_{0} {2}\n", name, help, type);
}

std::string escaped(std::string_view label) {
  std::string text;
  for (const char c : label) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text;
}
}  // namespace

void write_metric(std::string& out, std::string_view type, std::string_view name, std::string_view help, double value,
                  std::string_view labels) {
  const std::string line_head = fmt::format("# HELP onnx_genai_{} ", name);
  if (out.find(line_head) == std::string::npos) head(out, type, name, help);
  const std::string braces = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  fmt::format_to(std::back_inserter(out), "onnx_genai_{}{} {}\n", name, braces, value);
}

void Histogram::observe(double seconds) {
  const auto bound = std::ranges::lower_bound(kBounds, seconds);
  counts_[static_cast<size_t>(bound - kBounds.begin())].fetch_add(1);
  sum_us_.fetch_add(static_cast<int64_t>(seconds * 1e6));
}

void Histogram::write(std::string& out, std::string_view name, std::string_view help) const {
  head(out, "histogram", name, help);
  int64_t below = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i].load();
    const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
    fmt::format_to(std::back_inserter(out), "onnx_genai_{}_bucket{{le=\"{}\"}} {}\n", name, bound, below);
  }
  fmt::format_to(std::back_inserter(out), "onnx_genai_{0}_sum {1}\nonnx_genai_{0}_count {2}\n", name,
                 static_cast<double>(sum_us_.load()) / 1e6, below);
}

void Metrics::request(std::string_view endpoint, int status) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(endpoint), status}];
}

void Metrics::refusal(std::string_view code) {
  const std::lock_guard lock(mutex_);
  ++refusals_[std::string(code)];
}

void Metrics::write(std::string& out) const {
  {
    const std::lock_guard lock(mutex_);
    head(out, "counter", "requests_total", "Answered requests by endpoint and status.");
    for (const auto& [key, count] : requests_) {
      fmt::format_to(std::back_inserter(out), "onnx_genai_requests_total{{endpoint=\"{}\",status=\"{}\"}} {}\n",
                     escaped(key.first), key.second, count);
    }
    head(out, "counter", "rejections_total", "Refused requests by the error's code.");
    for (const auto& [code, count] : refusals_) {
      fmt::format_to(std::back_inserter(out), "onnx_genai_rejections_total{{reason=\"{}\"}} {}\n", escaped(code),
                     count);
    }
  }
  const auto counter = [&](const char* name, const char* help, const std::atomic<int64_t>& value) {
    write_metric(out, "counter", name, help, static_cast<double>(value.load()));
  };
  counter("prompt_tokens_total", "Prompt tokens of finished answers, cached ones included.", prompt_tokens);
  counter("completion_tokens_total", "Generated tokens of finished answers.", completion_tokens);
  counter("cached_tokens_total", "Prompt tokens of finished answers that were not computed again.", cached_tokens);
  counter("prefix_cache_lookups_total", "Finished prompts.", prefix_lookups);
  counter("prefix_cache_hits_total", "Finished prompts of which a part was cached.", prefix_hits);
  const int64_t lookups = prefix_lookups.load();
  write_metric(out, "gauge", "prefix_cache_hit_rate", "Hits by lookups since the start.",
               lookups == 0 ? 0.0 : static_cast<double>(prefix_hits.load()) / static_cast<double>(lookups));
  counter("stalled_turns_total", "Answers ended because their reader didn't drain.", stalled);
  counter("cancelled_turns_total", "Answers whose client went away.", cancelled);
  counter("failed_turns_total", "Answers that failed.", failed);
  counter("journal_failures_total", "Times a durable session couldn't be written.", journal_failures);
  write_metric(out, "gauge", "connections", "Open connections.", static_cast<double>(connections.load()));
  first_token.write(out, "time_to_first_token_seconds", "From the request to its first token.");
  inter_token.write(out, "inter_token_latency_seconds", "Between two tokens of an answer.");
  end_to_end.write(out, "e2e_request_latency_seconds", "From the request to its last token.");
  journal_sync.write(out, "journal_sync_seconds", "A durable session's turn on its way to the disk.");
}

}  // namespace genai::serve
