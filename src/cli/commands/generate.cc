// onnx-genai generate: one prompt, one answer; text on stdout, figures on stderr, or one JSON object.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/prompt_source.h"
#include "cli/sampling_flags.h"
#include "cli/statistics.h"
#include "package/chat_prompt.h"

namespace genai::cli {
namespace {

using nlohmann::ordered_json;

struct Flags {
  ModelFlags model;
  SpeculationFlags speculation;
  PromptSource prompt;
  SamplingFlags sampling;
  std::string system;
  bool chat = false, json = false, quiet = false;
  std::optional<int> logprobs;
};

std::vector<TokenId> encode_prompt(const Flags& flags, const LoadedModel& model, int vocab_size) {
  if (flags.prompt.is_token_ids()) return flags.prompt.ids(vocab_size);
  const std::string text = flags.prompt.read();
  if (!flags.chat) return model.tokenizer->encode(text);
  expect_utf8(flags.system, "--system");
  Json messages = Json::array();
  if (!flags.system.empty()) messages.push_back({{"role", "system"}, {"content", flags.system}});
  messages.push_back({{"role", "user"}, {"content", text}});
  return model.tokenizer->encode(ChatPrompt(model.spec).render(messages, {}), {.special_tokens = false});
}

ordered_json logprob_json(const TokenLogprob& logprob) {
  ordered_json top = ordered_json::array();
  for (const TopLogprob& t : logprob.top) top.push_back({{"token_id", t.token.value}, {"logprob", t.logprob}});
  return {{"token_id", logprob.token.value}, {"logprob", logprob.logprob}, {"top", top}};
}

ordered_json ids_json(const std::vector<TokenId>& ids) {
  ordered_json array = ordered_json::array();
  for (const TokenId id : ids) array.push_back(id.value);
  return array;
}

void print_json(const OpenedModel& model, const std::vector<TokenId>& prompt, const Answer& answer) {
  ordered_json object = {{"text", answer.text},
                         {"token_ids", ids_json(answer.tokens)},
                         {"prompt_token_ids", ids_json(prompt)},
                         {"finish_reason", finish_reason(answer.finish)},
                         {"usage", usage_json(answer.usage)},
                         {"speculation", speculation_json(answer.usage)},
                         {"timings", timings_json(model.loaded.load_ms, answer.usage, answer.timings)},
                         {"memory", memory_json(model)}};
  if (!answer.logprobs.empty()) {
    object["logprobs"] = ordered_json::array();
    for (const TokenLogprob& logprob : answer.logprobs) object["logprobs"].push_back(logprob_json(logprob));
  }
  std::printf("%s\n", object.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

int run(const Flags& flags) {
  OpenedModel model = open(flags.model, 1, flags.speculation);
  const std::vector<TokenId> prompt = encode_prompt(flags, model.loaded, model.engine->vocab_size());
  Request request = flags.sampling.request(model.loaded.spec.generation);
  request.prompt = prompt;
  request.logprobs = flags.logprobs;
  const CooperativeInterrupt interrupt;
  const Answer answer = read_answer(model.engine->submit(std::move(request)), interrupt, [&](std::string_view text) {
    if (flags.json) return;
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  });
  if (flags.json) {
    print_json(model, prompt, answer);
  } else {
    std::printf("\n");
  }
  if (!flags.json && !flags.quiet) std::fprintf(stderr, "%s\n", statistics_line(answer.usage, answer.timings).c_str());
  report_profile(flags.model, model);
  return answer.finish.reason == Finish::Reason::cancelled ? kInterrupted : kOk;
}

}  // namespace

Command generate() {
  return {"generate", "Answer one prompt",
          "onnx-genai generate models/smollm2 --chat --prompt \"Why is the sky blue?\"",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            flags->model.add(app);
            flags->speculation.add(app);
            flags->prompt.add(app);
            app.add_flag("--chat", flags->chat, "Apply the package's chat template to the prompt");
            app.add_option("--system", flags->system, "System message (with --chat)");
            app.add_flag("--json", flags->json, "Print one JSON object instead of text");
            app.add_flag("-q,--quiet", flags->quiet, "No figures on stderr");
            app.add_option("--logprobs", flags->logprobs, "Top N log probabilities of each token (in the JSON)")
                ->check(CLI::Range(0, 100));
            flags->sampling.add(app);
            return [flags] { return run(*flags); };
          }};
}

}  // namespace genai::cli
