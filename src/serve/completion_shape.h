// The bodies of plain completions: one object, or chunks. Used by answer.h; threads and errors as there.
#pragma once

#include "serve/chat_shape.h"

namespace genai::serve {

struct CompletionFacts {
  ResponseFacts response;
  bool logprobs = false, echo = false;
  std::vector<std::vector<TokenId>> prompts;  // for echo
};

class CompletionShape : public Shape {
 public:
  explicit CompletionShape(CompletionFacts facts);

  void open(std::vector<Json>& out) override;
  void chunks(int choice, const Event& event, std::vector<Json>& out) override;
  void close(std::vector<Json>& out) override;
  void take(int choice, const Event& event) override;
  Json body() override;

 private:
  struct Choice {
    std::string text;
    CompletionLogprobs logprobs;
    bool scored_prompt = false;
    std::string finish_reason;
  };
  std::string prompt_text(int choice) const;
  void add_logprobs(Choice& choice, int index, const Event& event);
  void note_end(int choice, const Event& event);
  Json object(Json choices) const;
  Json choice_json(int index, std::string text, Json finish_reason);
  void add_session(Json& body) const;

  const CompletionFacts facts_;
  std::vector<Choice> choices_;
  UsageSum usage_;
};

}  // namespace genai::serve
