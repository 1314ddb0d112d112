// The figures of one answer, as a line for people (stderr) and as JSON for scripts (generation.md, "Command line").
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/model_flags.h"
#include "gen/request.h"

namespace genai::cli {

std::string finish_reason(const Finish& finish);  // "stop", "length", "cancelled", "failed"

// Tokens per second; absent (nullopt) when too little was measured.
std::optional<double> prefill_rate(const Usage& usage, const Timings& timings);
std::optional<double> decode_rate(const Usage& usage, const Timings& timings);

std::string statistics_line(const Usage& usage, const Timings& timings);
nlohmann::ordered_json timings_json(double load_ms, const Usage& usage, const Timings& timings);
nlohmann::ordered_json usage_json(const Usage& usage);
nlohmann::ordered_json speculation_json(const Usage& usage);
nlohmann::ordered_json memory_json(const OpenedModel& model);

}  // namespace genai::cli
