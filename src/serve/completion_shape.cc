#include "serve/completion_shape.h"

namespace genai::serve {

CompletionShape::CompletionShape(CompletionFacts facts) : facts_(std::move(facts)) {
  choices_.resize(facts_.prompts.size() * static_cast<size_t>(facts_.response.n));
}

std::string CompletionShape::prompt_text(int choice) const {
  return facts_.response.tokenizer->decode(facts_.prompts[static_cast<size_t>(choice / facts_.response.n)], true);
}

void CompletionShape::add_logprobs(Choice& choice, int index, const Event& event) {
  if (!facts_.logprobs) return;
  const Tokenizer& tokenizer = *facts_.response.tokenizer;
  if (facts_.echo && !choice.scored_prompt) {
    choice.scored_prompt = true;
    choice.logprobs.add_first(facts_.prompts[static_cast<size_t>(index / facts_.response.n)].front(), tokenizer);
    for (const TokenLogprob& logprob : event.prompt_logprobs) choice.logprobs.add(logprob, tokenizer);
  }
  if (event.logprob) choice.logprobs.add(*event.logprob, tokenizer);
}

void CompletionShape::note_end(int choice, const Event& event) {
  if (!event.finish) return;
  usage_.add(choice, facts_.response.n, event.usage);
  choices_[static_cast<size_t>(choice)].finish_reason = finish_reason(*event.finish);
}

Json CompletionShape::object(Json choices) const {
  const ResponseFacts& facts = facts_.response;
  return {{"id", facts.id},
          {"object", "text_completion"},
          {"created", facts.created},
          {"model", facts.model},
          {"choices", std::move(choices)}};
}

Json CompletionShape::choice_json(int index, std::string text, Json finish_reason) {
  CompletionLogprobs& logprobs = choices_[static_cast<size_t>(index)].logprobs;
  return {{"text", std::move(text)},
          {"index", index},
          {"logprobs", logprobs.empty() ? Json(nullptr) : logprobs.take()},
          {"finish_reason", std::move(finish_reason)}};
}

void CompletionShape::open(std::vector<Json>& out) {
  if (!facts_.echo) return;
  for (int i = 0; i < static_cast<int>(choices_.size()); ++i) {
    out.push_back(object(Json::array({choice_json(i, prompt_text(i), nullptr)})));
    if (facts_.response.include_usage) out.back()["usage"] = nullptr;
  }
}

void CompletionShape::chunks(int choice, const Event& event, std::vector<Json>& out) {
  Choice& state = choices_[static_cast<size_t>(choice)];
  add_logprobs(state, choice, event);
  note_end(choice, event);
  std::string text = facts_.response.text_of(event);
  if (text.empty() && state.logprobs.empty() && !event.finish) return;
  Json finish = event.finish ? Json(state.finish_reason) : Json(nullptr);
  out.push_back(object(Json::array({choice_json(choice, std::move(text), std::move(finish))})));
  if (facts_.response.include_usage) out.back()["usage"] = nullptr;
  if (event.finish) add_session(out.back());
}

void CompletionShape::close(std::vector<Json>& out) {
  if (!facts_.response.include_usage) return;
  out.push_back(object(Json::array()));
  out.back()["usage"] = usage_.json(0);
}

void CompletionShape::take(int choice, const Event& event) {
  Choice& state = choices_[static_cast<size_t>(choice)];
  add_logprobs(state, choice, event);
  state.text += facts_.response.text_of(event);
  note_end(choice, event);
}

Json CompletionShape::body() {
  Json choices = Json::array();
  for (int i = 0; i < static_cast<int>(choices_.size()); ++i) {
    Choice& choice = choices_[static_cast<size_t>(i)];
    const std::string echoed = facts_.echo ? prompt_text(i) : std::string();
    choices.push_back(choice_json(i, echoed + choice.text, choice.finish_reason));
  }
  Json json = object(std::move(choices));
  json["usage"] = usage_.json(0);
  add_session(json);
  return json;
}

void CompletionShape::add_session(Json& body) const {
  if (facts_.response.session_id.empty()) return;
  body["session_id"] = facts_.response.session_id;
  body["session_token_count"] = usage_.total();
}

}  // namespace genai::serve
