#include "cli/sampling_flags.h"

#include <CLI/CLI.hpp>

#include "cli/validators.h"

namespace genai::cli {

void SamplingFlags::add(CLI::App& app) {
  const std::string group = "Sampling";
  app.add_option("--max-tokens", max_tokens, "Most tokens of the answer")->check(above_zero())->group(group);
  app.add_option("--temperature", temperature, "0: always the most likely token")->check(not_negative())->group(group);
  app.add_option("--top-k", top_k, "Only the k most likely tokens; 0: all")->check(not_negative())->group(group);
  app.add_option("--top-p", top_p, "Only the most likely tokens that make up p")
      ->check(CLI::Range(0.0, 1.0))
      ->group(group);
  app.add_option("--min-p", min_p, "Only tokens at least p times as likely as the best")
      ->check(CLI::Range(0.0, 1.0))
      ->group(group);
  app.add_option("--top-a", top_a, "Only tokens at least a·best² likely")->check(CLI::Range(0.0, 1.0))->group(group);
  app.add_option("--typical-p", typical_p, "Locally typical sampling")->check(CLI::Range(0.0, 1.0))->group(group);
  app.add_option("--repetition-penalty", repetition_penalty, "Above 1: less repetition")
      ->check(above_zero())
      ->group(group);
  app.add_option("--frequency-penalty", frequency_penalty, "Per earlier use of a token")->group(group);
  app.add_option("--presence-penalty", presence_penalty, "For any earlier use of a token")->group(group);
  app.add_option("--dry-multiplier", dry_multiplier, "Don't Repeat Yourself; 0: off")
      ->check(not_negative())
      ->group(group);
  app.add_option("--xtc-probability", xtc_probability, "Exclude Top Choices; 0: off")
      ->check(CLI::Range(0.0, 1.0))
      ->group(group);
  app.add_option("--xtc-threshold", xtc_threshold, "Of XTC")->check(CLI::Range(0.0, 1.0))->group(group);
  app.add_option("--mirostat", mirostat, "0 off, 1, 2")->check(CLI::Range(0, 2))->group(group);
  app.add_option("--seed", seed, "Same seed, same text")->check(unsigned_integer())->group(group);
  app.add_option("--stop", stop, "End the answer in front of this text (repeatable)")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--ignore-eos", ignore_eos, "Go on after an end-of-text token")->group(group);
}

Request SamplingFlags::request(const GenerationDefaults& package) const {
  Request request;
  SamplingOptions& sampling = request.sampling;
  const bool samples = package.do_sample.value_or(false);
  sampling.temperature = temperature.value_or(samples ? package.temperature.value_or(1.0f) : 0.0f);
  sampling.top_k = top_k.value_or(samples ? package.top_k.value_or(0) : 0);
  sampling.top_p = top_p.value_or(samples ? package.top_p.value_or(1.0f) : 1.0f);
  sampling.min_p = min_p.value_or(samples ? package.min_p.value_or(0.0f) : 0.0f);
  sampling.top_a = top_a.value_or(0.0f);
  sampling.typical_p = typical_p.value_or(1.0f);
  sampling.repetition_penalty = repetition_penalty.value_or(package.repetition_penalty.value_or(1.0f));
  sampling.frequency_penalty = frequency_penalty.value_or(0.0f);
  sampling.presence_penalty = presence_penalty.value_or(0.0f);
  sampling.dry.multiplier = dry_multiplier.value_or(0.0f);
  sampling.xtc.probability = xtc_probability.value_or(0.0f);
  sampling.xtc.threshold = xtc_threshold.value_or(sampling.xtc.threshold);
  sampling.mirostat.version = mirostat.value_or(0);
  sampling.suppress_tokens = package.suppress_tokens;
  sampling.seed = seed;
  request.max_tokens = max_tokens;
  request.stop = stop;
  request.eos = package.eos;
  request.ignore_eos = ignore_eos;
  return request;
}

}  // namespace genai::cli
