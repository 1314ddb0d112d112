#include "gen/sampling_options.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace genai {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

[[noreturn]] void refuse(const char* field, double value, const std::string& expected) {
  throw Error(Code::invalid_argument, fmt::format("{} is {}, expected {}", field, value, expected), field,
              "give a value in this range");
}

// Comparisons are false for NaN, so NaN is refused too.
void expect_between(const char* field, double value, double low, double high) {
  if (value >= low && value <= high) return;
  refuse(field, value, high == kInfinity ? fmt::format("at least {}", low) : fmt::format("{} to {}", low, high));
}

void expect_finite_from(const char* field, double value, double low) {
  if (!std::isfinite(value) || value < low) refuse(field, value, fmt::format("a finite number, at least {}", low));
}

void expect_positive(const char* field, double value) {
  if (!std::isfinite(value) || value <= 0) refuse(field, value, "a finite number above 0");
}

void expect_token(const char* field, TokenId token, int vocab_size) {
  if (token.value < 0 || token.value >= vocab_size) {
    refuse(field, token.value, fmt::format("token ids from 0 to {}", vocab_size - 1));
  }
}

void validate_penalties(const SamplingOptions& o) {
  expect_positive("repetition_penalty", o.repetition_penalty);
  expect_between("repetition_window", o.repetition_window, 0, kInfinity);
  expect_between("frequency_penalty", o.frequency_penalty, -100, 100);
  expect_between("presence_penalty", o.presence_penalty, -100, 100);
  expect_finite_from("dry.multiplier", o.dry.multiplier, 0);
  expect_finite_from("dry.base", o.dry.base, 1);
  expect_between("dry.allowed_length", o.dry.allowed_length, 1, kInfinity);
  expect_between("dry.window", o.dry.window, 0, kInfinity);
}
}  // namespace

void validate(const SamplingOptions& o, int vocab_size) {
  expect_finite_from("temperature", o.temperature, 0);
  expect_between("top_k", o.top_k, 0, kInfinity);
  expect_between("top_p", o.top_p, 0, 1);
  expect_between("min_p", o.min_p, 0, 1);
  expect_between("top_a", o.top_a, 0, 1);
  expect_between("typical_p", o.typical_p, 0, 1);
  validate_penalties(o);
  expect_between("mirostat.version", o.mirostat.version, 0, 2);
  expect_positive("mirostat.tau", o.mirostat.tau);
  expect_positive("mirostat.eta", o.mirostat.eta);
  expect_between("xtc.probability", o.xtc.probability, 0, 1);
  expect_between("xtc.threshold", o.xtc.threshold, 0, 1);
  for (const auto& [token, bias] : o.logit_bias) {
    expect_token("logit_bias", token, vocab_size);
    expect_between("logit_bias", bias, -100, 100);
  }
  for (const TokenId token : o.suppress_tokens) expect_token("suppress_tokens", token, vocab_size);
  for (const TokenId token : o.dry.breakers) expect_token("dry.breakers", token, vocab_size);
}

bool is_greedy(const SamplingOptions& options) { return options.temperature == 0; }

bool changes_logits(const SamplingOptions& o) {
  return !o.logit_bias.empty() || !o.suppress_tokens.empty() || o.repetition_penalty != 1 || o.frequency_penalty != 0 ||
         o.presence_penalty != 0 || o.dry.multiplier != 0;
}

}  // namespace genai
