// POST /v1/chat/completions
#include "serve/chat_shape.h"
#include "serve/dispatch.h"
#include "serve/turn.h"

namespace genai::serve::routes {
namespace {

class ChatTurn {
 public:
  ChatTurn(ChatCall call, TurnStart& start) : call_(std::move(call)), start_(start), model_(start.model()) {
    if (const Session* session = start_.session()) join(*session);
  }

  // The whole prompt; shortened when the request allows it.
  std::vector<TokenId> tokens() {
    std::vector<TokenId> ids = encode(messages_);
    const int64_t most = model_.driver->context_length() - 1;
    if (call_.truncate) {
      truncation_ = Truncation{};
      if (static_cast<int64_t>(ids.size()) > most) {
        truncation_ = truncate_history(
            messages_, most, [&](const Json& messages) { return static_cast<int64_t>(encode(messages).size()); });
        ids = encode(messages_);
      }
    }
    start_.check_length(static_cast<int64_t>(ids.size()), "messages");
    return ids;
  }

  Request request() const {
    Request request = call_.sampling->request(model_.generation, *model_.tokenizer);
    if (call_.logprobs) request.logprobs = call_.top_logprobs;
    return request;
  }

  bool thinks_first() const {
    const size_t end = prompt_.find_last_not_of(" \n\r\t");
    return !model_.think_open.empty() && end != std::string::npos &&
           std::string_view(prompt_).substr(0, end + 1).ends_with(model_.think_open);
  }

  const Json& new_messages() const { return call_.messages; }

  ChatFacts facts() const {
    const SamplingFields& sampling = *call_.sampling;
    ChatFacts facts{.response = {.id = response_id("chatcmpl-"),
                                 .model = model_.name,
                                 .created = unix_seconds(),
                                 .n = sampling.n,
                                 .include_usage = sampling.include_usage,
                                 .session_id = start_.session_id(),
                                 .tokenizer = model_.tokenizer},
                    .think_open = model_.think_open,
                    .think_close = model_.think_close,
                    .thinks_first = thinks_first(),
                    .logprobs = call_.logprobs,
                    .truncation = truncation_};
    if (sampling.include_stop) facts.response.appended_stops = sampling.stop;
    return facts;
  }

 private:
  void join(const Session& session) {
    const Conversation& stored = session.conversation;
    if (stored.messages.empty() && !stored.turns.empty()) {
      throw ApiError::bad_request("session_id", "this session holds plain completions; a chat needs another session");
    }
    call_.messages = serve::new_messages(stored.messages, call_.messages);
    messages_ = stored.messages;
    for (const Json& message : call_.messages) messages_.push_back(message);
  }

  std::vector<TokenId> encode(const Json& messages) {
    prompt_ = chat_of(model_).render(messages, {.variables = &call_.variables});
    return model_.tokenizer->encode(prompt_, {.special_tokens = false});
  }

  ChatCall call_;
  TurnStart& start_;
  ServedModel& model_;
  Json messages_ = call_.messages;  // the whole conversation
  std::string prompt_;
  std::optional<Truncation> truncation_;
};

Reply answer(Server& server, const HttpRequest& http) {
  ChatCall call = ChatCall::parse(http.body, server.options().limits);
  const bool stream = call.sampling->stream;
  const int n = call.sampling->n;
  TurnStart start(server, http, call.model, call.session_id);
  ChatTurn turn(std::move(call), start);
  TurnPlan plan{.prompt = turn.tokens(), .messages = turn.new_messages(), .thinks_first = turn.thinks_first()};
  Answers answers{.per_ticket = n, .shape = std::make_unique<ChatShape>(turn.facts())};
  answers.tickets.push_back(start.run(std::move(plan), turn.request()));
  return stream ? stream_reply(std::move(answers)) : whole_reply(std::move(answers));
}

}  // namespace

Route chat_completions() { return {.method = "POST", .path = "/v1/chat/completions", .answer = answer}; }

}  // namespace genai::serve::routes
