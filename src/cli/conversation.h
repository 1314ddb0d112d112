// A chat in the terminal: the history, and one turn after another. The engine's prefix tree keeps what was computed, so
// a turn prefills only what is new.
//
// Threads: one. Errors: a turn that fails leaves the history as it was.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/answer.h"
#include "cli/model_flags.h"
#include "cli/sampling_flags.h"
#include "package/chat_prompt.h"

namespace genai::cli {

class Conversation {
 public:
  Conversation(OpenedModel& model, const SamplingFlags& sampling, std::string system);

  Answer turn(const std::string& text, const CooperativeInterrupt& interrupt,
              const std::function<void(std::string_view)>& on_text);
  void reset();                         // forgets all but the system message
  void set_system(std::string system);  // and forgets the rest
  size_t turns() const { return turns_; }

 private:
  OpenedModel& model_;
  const SamplingFlags& sampling_;
  ChatPrompt chat_;
  std::string system_;
  Json messages_;
  size_t turns_ = 0;
};

}  // namespace genai::cli
