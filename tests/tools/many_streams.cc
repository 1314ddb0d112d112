// Runs prompts through one engine, together or one after the other, for the scripts under tests/e2e.
//
//   many_streams MODEL < {"together": true, "kv_type": "auto", "requests": [{"prompt": [1, 2], "max_tokens": 8,
//   "temperature": 0, "seed": 7}]}
//
// prints [{"tokens": […], "cached_tokens": 0, "predicted": [{"token": 5, "logprob": -1.5, "best": 6}]}]. `predicted` is
// there for requests with "predict": true: of each prompt token but the first, how likely it was and which was
// likeliest.
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gen/engine.h"
#include "gen/kv_type.h"
#include "gen/load_model.h"

namespace genai {
namespace {

using nlohmann::json;

constexpr int64_t kCacheBytes = int64_t{1} << 30;

Request request_of(const json& wanted) {
  Request request{.max_tokens = wanted.value("max_tokens", 0),
                  .sampling = {.temperature = wanted.value("temperature", 0.0f)},
                  .ignore_eos = true};
  for (const int id : wanted.at("prompt")) request.prompt.emplace_back(id);
  if (wanted.contains("seed")) request.sampling.seed = wanted["seed"].get<uint64_t>();
  if (wanted.value("predict", false)) request.prompt_logprobs = 1;
  return request;
}

json predicted(const std::vector<TokenLogprob>& prompt) {
  json list = json::array();
  for (const TokenLogprob& token : prompt)
    list.push_back({{"token", token.token.value}, {"logprob", token.logprob}, {"best", token.top[0].token.value}});
  return list;
}

json answer_of(Ticket ticket) {
  json answer = {{"tokens", json::array()}, {"cached_tokens", 0}};
  while (const auto event = ticket.next()) {
    if (event->token.valid()) answer["tokens"].push_back(event->token.value);
    if (!event->prompt_logprobs.empty()) answer["predicted"] = predicted(event->prompt_logprobs);
    answer["cached_tokens"] = event->usage.cached_tokens;
    if (event->finish && event->finish->error) throw *event->finish->error;
  }
  return answer;
}

json run(const std::string& folder, const json& job) {
  LoadedModel model = load_model(folder, {.kv_dtype = kv_type_named(job.value("kv_type", "auto"))});
  const auto& requests = job.at("requests");
  EngineOptions options{.kv_bytes = kCacheBytes, .output_buffer = 1 << 16, .delivery_grace_ms = 0};
  options.scheduler.max_sequences = static_cast<int>(requests.size());
  Engine engine(std::move(model.decoder), model.tokenizer, options);
  json answers = json::array();
  if (!job.value("together", false)) {
    for (const json& wanted : requests) answers.push_back(answer_of(engine.submit(request_of(wanted))));
    return answers;
  }
  std::vector<Ticket> tickets;
  for (const json& wanted : requests) tickets.push_back(engine.submit(request_of(wanted)));
  for (Ticket& ticket : tickets) answers.push_back(answer_of(std::move(ticket)));
  return answers;
}

}  // namespace
}  // namespace genai

int main(int argc, char** argv) {
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  try {
    if (argc != 2) throw nxrt::Error(nxrt::Code::invalid_argument, "usage: many_streams MODEL < requests.json");
    std::cout << genai::run(argv[1], nlohmann::json::parse(input)).dump() << "\n";
  } catch (const nxrt::Error& error) {
    std::cerr << error.text() << "\n";
    return 1;
  }
}
