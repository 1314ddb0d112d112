#include "cli/speculation_flags.h"

#include <CLI/CLI.hpp>

namespace genai::cli {

void SpeculationFlags::add(CLI::App& app) {
  const std::string group = "Speculation";
  app.add_option(
         "--speculate", mode,
         "Guess tokens ahead and check several in one step; the text stays the same. lookup: from what was said "
         "before; auto: that, and the draft model if one is given; both only while it pays")
      ->check(CLI::IsMember({"off", "lookup", "auto"}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--draft-model", draft_model,
                 "Folder of a smaller model with the same vocabulary that guesses; its KV cache, for as many tokens, "
                 "comes on top of --kv-memory")
      ->group(group);
}

SpeculationOptions SpeculationFlags::options(const LoadedModel& model, LoadOptions load, int64_t kv_bytes) const {
  SpeculationOptions options;
  const bool asked = mode == "lookup" || !draft_model.empty();
  if (!draft_model.empty() && mode != "auto") {
    throw CLI::ValidationError("--draft-model", "it needs --speculate auto, which is '" + mode + "'");
  }
  if (!model.paged && asked) {
    throw Error(Code::unsupported,
                "speculation checks several tokens in one step, the dense path runs one at a time: " + model.why_dense,
                draft_model.empty() ? "--speculate" : "--draft-model", "leave it out for this model");
  }
  options.prompt_lookup = model.paged && mode != "off";
  if (draft_model.empty()) return options;
  LoadedModel draft = load_draft(draft_model, std::move(load), model);
  const int64_t block = model.decoder->kv_layout().block_bytes, drafted = draft.decoder->kv_layout().block_bytes;
  options.draft_kv_bytes = std::max<int64_t>(kv_bytes / block, 1) * drafted;
  options.draft = std::move(draft.decoder);
  return options;
}

}  // namespace genai::cli
