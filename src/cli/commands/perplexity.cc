// onnx-genai perplexity: exp of the mean negative log likelihood of a text, in windows of --context tokens.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/model_flags.h"
#include "cli/prompt_source.h"

namespace genai::cli {
namespace {

constexpr int kDefaultWindow = 512;  // tokens, when --context says nothing

struct Flags {
  ModelFlags model;
  std::string file;
  bool json = false;
};

// Each window stands alone: its first token is context, the others are predicted.
int run(const Flags& flags) {
  OpenedModel model = open(flags.model, 1);
  const PromptSource source{.file = flags.file};
  const std::vector<TokenId> ids = model.loaded.tokenizer->encode(source.read());
  const size_t window = static_cast<size_t>(
      flags.model.context > 0 ? flags.model.context : std::min(kDefaultWindow, model.engine->context_length()));
  const CooperativeInterrupt interrupt;
  double nll = 0;
  int64_t predicted = 0;
  for (size_t begin = 0; begin + 1 < ids.size(); begin += window) {
    Request request;
    request.prompt.assign(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                          ids.begin() + static_cast<std::ptrdiff_t>(std::min(begin + window, ids.size())));
    if (request.prompt.size() < 2) break;
    request.max_tokens = 0;
    request.prompt_logprobs = 0;
    const Answer answer = read_answer(model.engine->submit(std::move(request)), interrupt, [](std::string_view) {});
    if (interrupt.pending()) return kInterrupted;
    for (const TokenLogprob& token : answer.prompt_logprobs) nll -= token.logprob;
    predicted += static_cast<int64_t>(answer.prompt_logprobs.size());
  }
  if (predicted == 0)
    throw Error(Code::invalid_argument, "the text has fewer than two tokens", flags.file, "give a longer text");
  const double perplexity = std::exp(nll / static_cast<double>(predicted));
  if (flags.json) {
    std::printf(
        "%s\n",
        nlohmann::ordered_json({{"perplexity", perplexity}, {"tokens", predicted}, {"nll", nll}}).dump().c_str());
  } else {
    std::printf("perplexity %.4f over %lld tokens\n", perplexity, static_cast<long long>(predicted));
  }
  return kOk;
}

}  // namespace

Command perplexity() {
  return {"perplexity", "How well the model predicts a text",
          "onnx-genai perplexity models/smollm2 --file text.txt --context 512",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            flags->model.add(app);
            app.add_option("--file", flags->file, "UTF-8 text")->required();
            app.add_flag("--json", flags->json, "Print one JSON object");
            return [flags] { return run(*flags); };
          }};
}

}  // namespace genai::cli
