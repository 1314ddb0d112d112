// Reads one answer to its end, handing out its text as it arrives; Ctrl-C stops it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/interrupt.h"
#include "gen/engine.h"

namespace genai::cli {

struct Answer {
  std::string text;
  std::vector<TokenId> tokens;
  std::vector<TokenLogprob> logprobs, prompt_logprobs;
  Finish finish;
  Usage usage;
  Timings timings;
};

// Throws the answer's own Error when it failed. An interrupted one ends with Finish::Reason::cancelled.
Answer read_answer(Ticket ticket, const CooperativeInterrupt& interrupt,
                   const std::function<void(std::string_view)>& on_text);

}  // namespace genai::cli
