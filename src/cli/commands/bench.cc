// onnx-genai bench: prefill and decode speed with random prompts, one or many streams.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/statistics.h"
#include "cli/validators.h"

namespace genai::cli {
namespace {

using nlohmann::ordered_json;

struct Flags {
  ModelFlags model;
  SpeculationFlags speculation;
  int prompt_tokens = 512, decode_tokens = 128, streams = 1, repeat = 5;
  bool json = false;
};

struct Run {  // of all streams together
  Usage usage;
  Timings timings;                      // of the slowest stream
  double wall_ms = 0;                   // submit → last token of all
  double decode_tokens_per_second = 0;  // all streams: tokens after the first ÷ the time in which they were made
};

Run measure(OpenedModel& model, const Flags& flags, uint32_t seed, const CooperativeInterrupt& interrupt) {
  std::mt19937 random(seed);
  std::vector<Ticket> tickets;
  const auto begin = std::chrono::steady_clock::now();
  for (int stream = 0; stream < flags.streams; ++stream) {
    Request request;
    for (int i = 0; i < flags.prompt_tokens; ++i) {
      request.prompt.emplace_back(static_cast<int32_t>(random() % static_cast<uint32_t>(model.engine->vocab_size())));
    }
    request.sampling.temperature = 0;
    request.max_tokens = flags.decode_tokens;
    request.ignore_eos = true;
    tickets.push_back(model.engine->submit(std::move(request)));
  }
  Run run;
  double decode_begin = 1e300, decode_end = 0;
  for (Ticket& ticket : tickets) {
    const Answer answer = read_answer(std::move(ticket), interrupt, [](std::string_view) {});
    run.usage.prompt_tokens += answer.usage.prompt_tokens;
    run.usage.completion_tokens += answer.usage.completion_tokens;
    run.usage.cached_tokens += answer.usage.cached_tokens;
    run.usage.proposed_tokens += answer.usage.proposed_tokens;
    run.usage.accepted_tokens += answer.usage.accepted_tokens;
    run.timings.prefill_ms = std::max(run.timings.prefill_ms, answer.timings.prefill_ms + answer.timings.queued_ms);
    run.timings.first_token_ms = std::max(run.timings.first_token_ms, answer.timings.first_token_ms);
    run.timings.decode_ms = std::max(run.timings.decode_ms, answer.timings.decode_ms);
    decode_begin = std::min(decode_begin, answer.timings.first_token_ms);
    decode_end = std::max(decode_end, answer.timings.first_token_ms + answer.timings.decode_ms);
  }
  if (interrupt.pending()) throw Error(Code::cancelled, "the measurement was interrupted");
  run.wall_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const auto decoded = static_cast<double>(run.usage.completion_tokens - flags.streams);
  if (decode_end > decode_begin && decoded > 0)
    run.decode_tokens_per_second = decoded * 1000 / (decode_end - decode_begin);
  return run;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

ordered_json run_json(const Run& run, double load_ms) {
  ordered_json timings = timings_json(load_ms, run.usage, run.timings);
  timings["decode_tokens_per_second"] = run.decode_tokens_per_second;
  return {{"usage", usage_json(run.usage)},
          {"speculation", speculation_json(run.usage)},
          {"timings", timings},
          {"wall_ms", run.wall_ms}};
}

int run(const Flags& flags) {
  OpenedModel model = open(flags.model, flags.streams, flags.speculation);
  const CooperativeInterrupt interrupt;
  measure(model, flags, 0, interrupt);  // warm-up: touches every page once
  std::vector<double> prefill, decode, first;
  ordered_json runs = ordered_json::array();
  for (int i = 0; i < flags.repeat; ++i) {
    const Run one = measure(model, flags, static_cast<uint32_t>(i + 1), interrupt);
    prefill.push_back(prefill_rate(one.usage, one.timings).value_or(0));
    decode.push_back(one.decode_tokens_per_second);
    first.push_back(one.timings.first_token_ms);
    runs.push_back(run_json(one, model.loaded.load_ms));
    if (!flags.json)
      std::printf("run %d   prefill %8.1f tok/s   decode %8.1f tok/s   first token %7.1f ms\n", i + 1, prefill.back(),
                  decode.back(), first.back());
  }
  if (flags.json) {
    const ordered_json medians = {{"load_ms", model.loaded.load_ms},
                                  {"prefill_tokens_per_second", median(prefill)},
                                  {"decode_tokens_per_second", median(decode)},
                                  {"first_token_ms", median(first)}};
    const ordered_json object = {{"prompt_tokens", flags.prompt_tokens},
                                 {"decode_tokens", flags.decode_tokens},
                                 {"streams", flags.streams},
                                 {"threads", model.loaded.workers->width()},
                                 {"path", model.loaded.paged ? "paged" : "dense"},
                                 {"runs", runs},
                                 {"medians", medians},
                                 {"memory", memory_json(model)}};
    std::printf("%s\n", object.dump(2).c_str());
  } else {
    std::printf(
        "median  prefill %8.1f tok/s   decode %8.1f tok/s   first token %7.1f ms   (%d streams, %d threads, load %.0f "
        "ms)\n",
        median(prefill), median(decode), median(first), flags.streams, model.loaded.workers->width(),
        model.loaded.load_ms);
  }
  report_profile(flags.model, model);
  return kOk;
}

}  // namespace

Command bench() {
  return {"bench", "Measure prefill and decode",
          "onnx-genai bench models/smollm2 --prompt-tokens 512 --decode-tokens 128 --streams 4",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            flags->model.add(app);
            flags->speculation.mode = "off";  // random prompts make answers that repeat themselves
            flags->speculation.add(app);
            app.add_option("--prompt-tokens", flags->prompt_tokens, "Per stream")
                ->check(above_zero())
                ->capture_default_str();
            app.add_option("--decode-tokens", flags->decode_tokens, "Per stream")
                ->check(above_zero())
                ->capture_default_str();
            app.add_option("--streams", flags->streams, "Requests at once")
                ->check(CLI::Range(1, 1024))
                ->capture_default_str();
            app.add_option("--repeat", flags->repeat, "Measured runs after one to warm up")
                ->check(CLI::Range(1, 1000))
                ->capture_default_str();
            app.add_flag("--json", flags->json, "Print one JSON object");
            return [flags] { return run(*flags); };
          }};
}

}  // namespace genai::cli
