#include "serve/chat_shape.h"

namespace genai::serve {

std::string ResponseFacts::text_of(const Event& event) const {
  const bool stopped = event.finish && event.finish->reason == Finish::Reason::stop_string;
  if (!stopped || appended_stops.empty()) return event.text;
  return event.text + appended_stops[static_cast<size_t>(event.finish->matched)];
}

ChatShape::ChatShape(ChatFacts facts) : facts_(std::move(facts)) {
  for (int i = 0; i < facts_.response.n; ++i) {
    choices_.push_back({.split = ReasoningSplitter(facts_.think_open, facts_.think_close, facts_.thinks_first)});
  }
}

SplitText ChatShape::split(Choice& choice, const Event& event) {
  SplitText now = choice.split.push(facts_.response.text_of(event));
  reasoning_tokens_ += event.token.valid() && !now.reasoning.empty();
  if (event.finish) {
    const SplitText rest = choice.split.finish();
    now.reasoning += rest.reasoning;
    now.content += rest.content;
  }
  return now;
}

void ChatShape::note_end(int choice, const Event& event) {
  if (!event.finish) return;
  usage_.add(choice, facts_.response.n, event.usage);
  choices_[static_cast<size_t>(choice)].finish_reason = finish_reason(*event.finish);
}

Json ChatShape::chunk(int choice, Json delta, Json finish_reason) const {
  const ResponseFacts& facts = facts_.response;
  Json json = {
      {"id", facts.id}, {"object", "chat.completion.chunk"}, {"created", facts.created}, {"model", facts.model}};
  json["choices"] = Json::array({{{"index", choice},
                                  {"delta", std::move(delta)},
                                  {"logprobs", nullptr},
                                  {"finish_reason", std::move(finish_reason)}}});
  if (facts.include_usage) json["usage"] = nullptr;
  return json;
}

void ChatShape::open(std::vector<Json>& out) {
  for (int i = 0; i < facts_.response.n; ++i)
    out.push_back(chunk(i, {{"role", "assistant"}, {"content", ""}}, nullptr));
}

void ChatShape::chunks(int choice, const Event& event, std::vector<Json>& out) {
  Choice& state = choices_[static_cast<size_t>(choice)];
  const size_t before = out.size();
  const SplitText text = split(state, event);
  if (!text.reasoning.empty()) out.push_back(chunk(choice, {{"reasoning_content", text.reasoning}}, nullptr));
  if (!text.content.empty()) out.push_back(chunk(choice, {{"content", text.content}}, nullptr));
  if (facts_.logprobs && event.logprob) {
    if (out.size() == before) out.push_back(chunk(choice, {{"content", ""}}, nullptr));
    Json entries = Json::array({chat_logprob(*event.logprob, *facts_.response.tokenizer)});
    out[before]["choices"][0]["logprobs"] = {{"content", std::move(entries)}, {"refusal", nullptr}};
  }
  if (!event.finish) return;
  note_end(choice, event);
  out.push_back(chunk(choice, Json::object(), state.finish_reason));
  add_extensions(out.back());
}

void ChatShape::close(std::vector<Json>& out) {
  if (!facts_.response.include_usage) return;
  Json last = chunk(0, Json::object(), nullptr);
  last["choices"] = Json::array();
  last["usage"] = usage_.json(reasoning_tokens_);
  out.push_back(std::move(last));
}

void ChatShape::take(int choice, const Event& event) {
  Choice& state = choices_[static_cast<size_t>(choice)];
  const SplitText text = split(state, event);
  state.text.reasoning += text.reasoning;
  state.text.content += text.content;
  if (facts_.logprobs && event.logprob) {
    state.logprobs.push_back(chat_logprob(*event.logprob, *facts_.response.tokenizer));
  }
  note_end(choice, event);
}

Json ChatShape::body() {
  const ResponseFacts& facts = facts_.response;
  Json json = {{"id", facts.id}, {"object", "chat.completion"}, {"created", facts.created}, {"model", facts.model}};
  json["choices"] = Json::array();
  for (size_t i = 0; i < choices_.size(); ++i) {
    Choice& choice = choices_[i];
    Json message = {{"role", "assistant"}, {"content", choice.text.content}, {"refusal", nullptr}};
    if (!choice.text.reasoning.empty()) message["reasoning_content"] = choice.text.reasoning;
    Json logprobs = nullptr;
    if (facts_.logprobs) logprobs = {{"content", std::move(choice.logprobs)}, {"refusal", nullptr}};
    json["choices"].push_back({{"index", i},
                               {"message", std::move(message)},
                               {"logprobs", std::move(logprobs)},
                               {"finish_reason", choice.finish_reason}});
  }
  json["usage"] = usage_.json(reasoning_tokens_);
  add_extensions(json);
  return json;
}

void ChatShape::add_extensions(Json& body) const {
  if (!facts_.response.session_id.empty()) {
    body["session_id"] = facts_.response.session_id;
    body["session_token_count"] = usage_.total();
  }
  if (facts_.truncation) {
    body["truncation"] = {{"dropped_messages", facts_.truncation->dropped_messages},
                          {"dropped_tokens", facts_.truncation->dropped_tokens}};
  }
}

}  // namespace genai::serve
