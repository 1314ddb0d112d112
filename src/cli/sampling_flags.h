// The flags that choose tokens, over the package's own defaults.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gen/request.h"
#include "package/model_spec.h"

namespace CLI {
class App;
}

namespace genai::cli {

struct SamplingFlags {
  std::optional<int> max_tokens;
  std::optional<float> temperature, top_p, min_p, top_a, typical_p, repetition_penalty, frequency_penalty,
      presence_penalty;
  std::optional<float> dry_multiplier, xtc_probability, xtc_threshold;
  std::optional<int> top_k, mirostat;
  std::optional<uint64_t> seed;
  std::vector<std::string> stop;
  bool ignore_eos = false;

  void add(CLI::App& app);
  // A request with the package's defaults, then these flags; the prompt is left to the caller.
  Request request(const GenerationDefaults& package) const;
};

}  // namespace genai::cli
