// POST /v1/completions
#include "serve/completion_call.h"
#include "serve/completion_shape.h"
#include "serve/dispatch.h"
#include "serve/turn.h"

namespace genai::serve::routes {
namespace {

std::vector<TokenId> encode(const CompletionCall::Prompt& prompt, const ServedModel& model, bool first) {
  if (const auto* ids = std::get_if<std::vector<TokenId>>(&prompt)) return *ids;
  return model.tokenizer->encode(std::get<std::string>(prompt), {.special_tokens = first});
}

void check(const CompletionCall& call, const TurnStart& start) {
  if (const Session* session = start.session()) {
    if (!session->conversation.messages.empty()) {
      throw ApiError::bad_request("session_id", "this session holds a chat; plain completions need another session");
    }
    if (call.prompts.size() > 1) {
      throw ApiError::bad_request("prompt", "prompt holds several prompts, expected one for a session's turn");
    }
  }
  if (call.echo && call.logprobs && call.sampling->n > 1) {
    throw ApiError::unsupported("n", "n is above 1, expected 1 together with echo and logprobs");
  }
}

// All prompts as tokens, checked before any of them runs.
std::vector<std::vector<TokenId>> tokens_of(const CompletionCall& call, TurnStart& start) {
  std::vector<std::vector<TokenId>> all;
  for (const CompletionCall::Prompt& prompt : call.prompts) {
    std::vector<TokenId> ids;
    if (const Session* session = start.session()) ids = session->conversation.tokens;
    const std::vector<TokenId> more = encode(prompt, start.model(), ids.empty());
    ids.insert(ids.end(), more.begin(), more.end());
    const bool scores_only = call.sampling->max_tokens == 0;
    start.check_length(static_cast<int64_t>(ids.size()) - (scores_only ? 1 : 0), "prompt");
    all.push_back(std::move(ids));
  }
  return all;
}

CompletionFacts facts_of(const CompletionCall& call, const TurnStart& start, ServedModel& model) {
  CompletionFacts facts{.response = {.id = response_id("cmpl-"),
                                     .model = model.name,
                                     .created = unix_seconds(),
                                     .n = call.sampling->n,
                                     .include_usage = call.sampling->include_usage,
                                     .session_id = start.session_id(),
                                     .tokenizer = model.tokenizer},
                        .logprobs = call.logprobs.has_value(),
                        .echo = call.echo};
  if (call.sampling->include_stop) facts.response.appended_stops = call.sampling->stop;
  return facts;
}

Reply answer(Server& server, const HttpRequest& http) {
  const CompletionCall call = CompletionCall::parse(http.body, server.options().limits);
  TurnStart start(server, http, call.model, call.session_id);
  check(call, start);
  CompletionFacts facts = facts_of(call, start, start.model());
  facts.prompts = tokens_of(call, start);
  Answers answers{.per_ticket = call.sampling->n};
  for (const std::vector<TokenId>& prompt : facts.prompts) {
    Request request = call.sampling->request(start.model().generation, *start.model().tokenizer);
    request.logprobs = call.logprobs;
    if (call.echo) request.prompt_logprobs = call.logprobs.value_or(0);
    if (call.echo && !call.logprobs && call.sampling->max_tokens != 0) request.prompt_logprobs.reset();
    answers.tickets.push_back(start.run({.prompt = prompt}, std::move(request)));
  }
  answers.shape = std::make_unique<CompletionShape>(std::move(facts));
  return call.sampling->stream ? stream_reply(std::move(answers)) : whole_reply(std::move(answers));
}

}  // namespace

Route completions() { return {.method = "POST", .path = "/v1/completions", .answer = answer}; }

}  // namespace genai::serve::routes
