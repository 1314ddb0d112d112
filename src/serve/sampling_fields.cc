#include "serve/sampling_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace genai::serve {
namespace {
constexpr size_t kMaxStops = 64;
// How other servers are asked for constrained output: what isn't enforced is named, never skipped as unknown.
constexpr std::array kConstraints = {"grammar",
                                     "guided_json",
                                     "guided_regex",
                                     "guided_choice",
                                     "guided_grammar",
                                     "guided_decoding_backend",
                                     "structured_outputs",
                                     "json_schema",
                                     "regex",
                                     "ebnf",
                                     "format"};
constexpr size_t kMaxBreakers = 256, kMaxBreakerBytes = 64;
constexpr double kHuge = 1e6;

// The tokens across which a repetition doesn't reach: those whose text holds one of `texts`; where no token holds a
// text as a whole, the last one that it is made of.
void add_breakers(const std::vector<std::string>& texts, const Tokenizer& tokenizer, std::vector<TokenId>& breakers) {
  std::vector<bool> held(texts.size());
  for (int id = 0; !texts.empty() && id < tokenizer.vocab_size(); ++id) {
    const std::string bytes = tokenizer.bytes_of(TokenId(id), false);
    bool breaks = false;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (bytes.find(texts[i]) == std::string::npos) continue;
      held[i] = breaks = true;
    }
    if (breaks) breakers.emplace_back(id);
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    if (held[i]) continue;
    const std::vector<TokenId> ids = tokenizer.encode(texts[i], {.special_tokens = false});
    if (!ids.empty()) breakers.push_back(ids.back());
  }
}

std::optional<float> as_float(std::optional<double> value) {
  return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
}
}  // namespace

SamplingFields::SamplingFields(Fields& fields, int max_output_tokens, int least_tokens) {
  for (const char* name : kConstraints) {
    if (fields.find(name) == nullptr) continue;
    throw ApiError::unsupported(name, std::string(name) + " is not supported by this server yet: leave it out");
  }
  read_stream(fields);
  read_stop(fields);
  read_max_tokens(fields, max_output_tokens, least_tokens);
  read_filters(fields);
  read_penalties(fields);
  read_logit_bias(fields);
  n = static_cast<int>(fields.integer("n", 1, 1024).value_or(1));
  if (const auto seed = fields.integer("seed", INT64_MIN, INT64_MAX)) given_.seed = static_cast<uint64_t>(*seed);
  ignore_eos_ = fields.boolean("ignore_eos").value_or(false);
  skip_special_tokens_ = fields.boolean("skip_special_tokens").value_or(true);
  speculate_ = fields.boolean("speculate").value_or(true);
}

void SamplingFields::read_stream(Fields& fields) {
  stream = fields.boolean("stream").value_or(false);
  const Json* options = fields.find("stream_options");
  if (options == nullptr) return;
  if (!options->is_object()) fields.refuse("stream_options", *options, "an object");
  if (!stream) {
    throw ApiError::bad_request("stream_options", "stream_options is given, expected only together with stream: true");
  }
  include_usage = Fields(*options, "stream_options").boolean("include_usage").value_or(false);
}

void SamplingFields::read_stop(Fields& fields) {
  stop = fields.texts("stop", kMaxStops);
  if (std::ranges::find(stop, std::string()) != stop.end()) {
    throw ApiError::bad_request("stop", "stop holds an empty text, expected texts of at least one character");
  }
  include_stop = fields.boolean("include_stop_str_in_output").value_or(false);
}

void SamplingFields::read_max_tokens(Fields& fields, int max_output_tokens, int least_tokens) {
  const auto old_name = fields.integer("max_tokens", least_tokens, INT32_MAX);
  const char* name = "max_completion_tokens";
  auto tokens = fields.integer(name, 1, INT32_MAX);
  if (!tokens) {
    tokens = old_name;
    name = "max_tokens";
  }
  if (tokens && max_output_tokens > 0 && *tokens > max_output_tokens) {
    throw ApiError::bad_request(
        name, fmt::format("{} is {}, expected at most {}, this server's limit", name, *tokens, max_output_tokens));
  }
  if (tokens) max_tokens = static_cast<int>(*tokens);
  if (!tokens && max_output_tokens > 0) max_tokens = max_output_tokens;
}

void SamplingFields::read_filters(Fields& fields) {
  temperature_ = as_float(fields.number("temperature", 0, 100));
  top_p_ = as_float(fields.number("top_p", 0, 1));
  min_p_ = as_float(fields.number("min_p", 0, 1));
  if (const auto k = fields.integer("top_k", -1, INT32_MAX)) top_k_ = static_cast<int>(std::max<int64_t>(*k, 0));
  given_.top_a = as_float(fields.number("top_a", 0, 1)).value_or(0);
  given_.typical_p = as_float(fields.number("typical_p", 0, 1)).value_or(1);
  given_.xtc.probability = as_float(fields.number("xtc_probability", 0, 1)).value_or(0);
  given_.xtc.threshold = as_float(fields.number("xtc_threshold", 0, 1)).value_or(given_.xtc.threshold);
  given_.mirostat.version = static_cast<int>(fields.integer("mirostat", 0, 2).value_or(0));
  given_.mirostat.tau = as_float(fields.number("mirostat_tau", 1e-6, kHuge)).value_or(given_.mirostat.tau);
  given_.mirostat.eta = as_float(fields.number("mirostat_eta", 1e-6, kHuge)).value_or(given_.mirostat.eta);
}

void SamplingFields::read_penalties(Fields& fields) {
  given_.frequency_penalty = as_float(fields.number("frequency_penalty", -100, 100)).value_or(0);
  given_.presence_penalty = as_float(fields.number("presence_penalty", -100, 100)).value_or(0);
  repetition_penalty_ = as_float(fields.number("repetition_penalty", 1e-3, kHuge));
  given_.dry.multiplier = as_float(fields.number("dry_multiplier", 0, kHuge)).value_or(0);
  given_.dry.base = as_float(fields.number("dry_base", 1, kHuge)).value_or(given_.dry.base);
  given_.dry.allowed_length =
      static_cast<int>(fields.integer("dry_allowed_length", 1, INT32_MAX).value_or(given_.dry.allowed_length));
  read_dry_breakers(fields);
}

void SamplingFields::read_dry_breakers(Fields& fields) {
  constexpr const char* kName = "dry_sequence_breakers";
  const Json* breakers = fields.find(kName);
  if (breakers == nullptr) return;
  const auto is_id = [](const Json& item) {
    return item.is_number_integer() && item.get<int64_t>() >= 0 && item.get<int64_t>() <= INT32_MAX;
  };
  const auto is_text = [](const Json& item) {
    return item.is_string() && !item.get_ref<const std::string&>().empty() &&
           item.get_ref<const std::string&>().size() <= kMaxBreakerBytes;
  };
  const bool good = breakers->is_array() && breakers->size() <= kMaxBreakers &&
                    std::ranges::all_of(*breakers, [&](const Json& item) { return is_id(item) || is_text(item); });
  if (!good) {
    fields.refuse(
        kName, *breakers,
        fmt::format("an array of at most {} token ids or texts of 1 to {} bytes", kMaxBreakers, kMaxBreakerBytes));
  }
  for (const Json& item : *breakers) {
    if (item.is_string()) {
      dry_breaker_texts_.push_back(item.get<std::string>());
    } else {
      given_.dry.breakers.emplace_back(item.get<int32_t>());
    }
  }
}

void SamplingFields::read_logit_bias(Fields& fields) {
  const Json* bias = fields.find("logit_bias");
  if (bias == nullptr) return;
  if (!bias->is_object()) fields.refuse("logit_bias", *bias, "an object of token id: bias");
  for (const auto& item : bias->items()) {
    const std::string& key = item.key();
    int32_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    const bool good_id = error == std::errc() && end == key.data() + key.size() && id >= 0;
    const double value = item.value().is_number() ? item.value().get<double>() : 1e9;
    if (!good_id || value < -100 || value > 100) {
      const std::string name = "logit_bias." + key;
      throw ApiError::bad_request(
          name, fmt::format("{} is {}, expected a token id with a bias from -100 to 100", name, shown(item.value())));
    }
    given_.logit_bias.emplace_back(TokenId(id), static_cast<float>(value));
  }
}

bool SamplingFields::stochastic() const {
  return given_.seed || top_k_.value_or(0) > 0 || min_p_.value_or(0) > 0 || top_p_ || given_.top_a > 0 ||
         given_.typical_p < 1 || given_.mirostat.version > 0 || given_.xtc.probability > 0;
}

Request SamplingFields::request(const GenerationDefaults& package, const Tokenizer& tokenizer) const {
  Request request;
  request.sampling = given_;
  add_breakers(dry_breaker_texts_, tokenizer, request.sampling.dry.breakers);
  SamplingOptions& sampling = request.sampling;
  const bool samples = package.do_sample.value_or(false);
  const float unasked = stochastic() ? 1.0f : 0.0f;
  sampling.temperature = temperature_.value_or(samples ? package.temperature.value_or(1.0f) : unasked);
  sampling.top_k = top_k_.value_or(samples ? package.top_k.value_or(0) : 0);
  sampling.top_p = top_p_.value_or(samples ? package.top_p.value_or(1.0f) : 1.0f);
  sampling.min_p = min_p_.value_or(samples ? package.min_p.value_or(0.0f) : 0.0f);
  sampling.repetition_penalty = repetition_penalty_.value_or(package.repetition_penalty.value_or(1.0f));
  sampling.suppress_tokens = package.suppress_tokens;
  request.max_tokens = max_tokens;
  request.n = n;
  request.stop = stop;
  request.eos = package.eos;
  request.ignore_eos = ignore_eos_;
  request.skip_special_tokens = skip_special_tokens_;
  request.speculate = speculate_;
  return request;
}

}  // namespace genai::serve
