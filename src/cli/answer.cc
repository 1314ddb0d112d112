#include "cli/answer.h"

#include <chrono>

namespace genai::cli {
namespace {
constexpr std::chrono::milliseconds kPoll(20);  // how late a Ctrl-C may be noticed
}

Answer read_answer(Ticket ticket, const CooperativeInterrupt& interrupt,
                   const std::function<void(std::string_view)>& on_text) {
  Answer answer;
  while (!ticket.done()) {
    if (interrupt.pending()) ticket.cancel();
    std::optional<Event> event = ticket.next_for(kPoll);
    if (!event) continue;
    answer.text += event->text;
    if (!event->text.empty()) on_text(event->text);
    if (event->token.valid()) answer.tokens.push_back(event->token);
    if (event->logprob) answer.logprobs.push_back(*event->logprob);
    if (!event->prompt_logprobs.empty()) answer.prompt_logprobs = std::move(event->prompt_logprobs);
    answer.usage = event->usage;
    answer.timings = event->timings;
    if (event->finish) answer.finish = *event->finish;
  }
  if (answer.finish.error) throw *answer.finish.error;
  return answer;
}

}  // namespace genai::cli
