#include "cli/statistics.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "cli/size_text.h"

namespace genai::cli {
using nlohmann::ordered_json;

std::string finish_reason(const Finish& finish) {
  switch (finish.reason) {
    case Finish::Reason::stop:
    case Finish::Reason::stop_string: return "stop";
    case Finish::Reason::length: return "length";
    case Finish::Reason::cancelled:
    case Finish::Reason::stalled: return "cancelled";
    case Finish::Reason::failed: return "failed";
  }
  return "failed";
}

std::optional<double> prefill_rate(const Usage& usage, const Timings& timings) {
  const int64_t computed = usage.prompt_tokens - usage.cached_tokens;
  if (computed <= 0 || timings.prefill_ms <= 0) return {};
  return static_cast<double>(computed) * 1000 / timings.prefill_ms;
}

std::optional<double> decode_rate(const Usage& usage, const Timings& timings) {
  if (usage.completion_tokens < 2 || timings.decode_ms <= 0) return {};
  return static_cast<double>(usage.completion_tokens - 1) * 1000 / timings.decode_ms;
}

std::string statistics_line(const Usage& usage, const Timings& timings) {
  const auto rate = [](std::optional<double> r) {
    return r ? fmt::format("{:.1f} tok/s", *r) : std::string("not measured");
  };
  const std::string guessed = usage.proposed_tokens == 0 ? std::string()
                                                         : fmt::format(", {} of {} guesses right",
                                                                       usage.accepted_tokens, usage.proposed_tokens);
  return fmt::format("prompt {} tokens ({} cached), {} | answer {} tokens, {}{} | first token {:.0f} ms",
                     usage.prompt_tokens, usage.cached_tokens, rate(prefill_rate(usage, timings)),
                     usage.completion_tokens, rate(decode_rate(usage, timings)), guessed, timings.first_token_ms);
}

ordered_json timings_json(double load_ms, const Usage& usage, const Timings& timings) {
  const auto rate = [](std::optional<double> r) { return r ? ordered_json(*r) : ordered_json(); };
  return {{"load_ms", load_ms},
          {"prefill_ms", timings.prefill_ms},
          {"prefill_tokens_per_second", rate(prefill_rate(usage, timings))},
          {"decode_tokens_per_second", rate(decode_rate(usage, timings))},
          {"first_token_ms", timings.first_token_ms}};
}

ordered_json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"cached_tokens", usage.cached_tokens}};
}

ordered_json speculation_json(const Usage& usage) {
  return {{"proposed_tokens", usage.proposed_tokens}, {"accepted_tokens", usage.accepted_tokens}};
}

ordered_json memory_json(const OpenedModel& model) {
  return {{"peak_rss_bytes", nxrt::peak_resident_bytes()},
          {"weights_bytes", model.loaded.session->weight_bytes()},
          {"kv_type", std::string(name_of(model.loaded.kv_dtype))},
          {"kv_bytes", model.engine->stats().kv_resident_bytes}};
}

}  // namespace genai::cli
