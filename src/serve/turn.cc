#include "serve/turn.h"

#include <algorithm>

namespace genai::serve {
namespace {
int64_t common_beginning(const std::vector<TokenId>& a, const std::vector<TokenId>& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

// What a turn that the engine refuses leaves: nothing, not even the session that was made for it.
struct Refused {
  SessionService& sessions;
  std::shared_ptr<Session> session;  // null: it was there before, or the turn runs
  ~Refused() {
    if (session) sessions.discard(session);
  }
};

std::string model_of_session(Server& server, const SessionId& id, const std::string& owner) {
  SessionRegistry& registry = server.sessions().registry();
  return registry.model_of(id, owner).value_or(server.models().names().front());
}
}  // namespace

std::optional<SessionId> session_named(const HttpRequest& http, const std::string& field) {
  const std::string_view header = http.header("x-session-id");
  const bool given = http.headers.contains("x-session-id");
  if (!given && field.empty()) return std::nullopt;
  std::optional<SessionId> id = SessionId::parse(given ? header : std::string_view(field));
  if (!id) {
    throw ApiError::bad_request(
        given ? "X-Session-Id" : "session_id",
        "the session id is not one: expected 1 to 128 printable ASCII characters without spaces");
  }
  return id;
}

SessionId session_in_path(const HttpRequest& http) {
  std::optional<SessionId> id = SessionId::parse(http.path_parts.at("id"));
  if (!id) throw ApiError::not_found("this session does not exist", "session_not_found", "session_id");
  return *id;
}

TurnStart::TurnStart(Server& server, const HttpRequest& http, const std::string& model,
                     const std::string& session_field)
    : server_(server), http_(http) {
  const std::optional<SessionId> id = session_named(http, session_field);
  if (!id) {
    model_ = server.models().get(model);
  } else {
    const std::string name = model.empty() ? model_of_session(server, *id, http.owner) : model;
    model_ = server.models().get(name);
    held_ = server.sessions().begin(*id, http.owner, name);
  }
  check_model();
}

// What is thrown while the object is made leaves it without its destructor.
void TurnStart::check_model() {
  std::optional<ForgetUnlessKept> made;
  if (held_) made.emplace(server_.sessions().registry(), *held_);
  if (!model_->driver) {
    throw ApiError::unsupported("model", "model '" + model_->name + "' makes embeddings only, it can't generate");
  }
  model_->driver->check_alive();
  if (made) made->keep();
}

TurnStart::~TurnStart() {
  const bool unused = held_ && held_->made && !model_->driver->has_session(held_->lease);
  if (unused) server_.sessions().registry().forget(*held_);
}

void TurnStart::check_length(int64_t prompt_tokens, const char* field) const {
  const int context = model_->driver->context_length();
  if (prompt_tokens >= context) throw ApiError::context_length(prompt_tokens, context, field);
}

TurnTicket TurnStart::run(TurnPlan plan, Request request) {
  std::unique_ptr<TurnRecord> record;
  std::shared_ptr<EndGate> gate;
  if (held_) {
    plan.keep = common_beginning(held_->session->conversation.tokens, plan.prompt);
    plan.prompt.erase(plan.prompt.begin(), plan.prompt.begin() + plan.keep);
    request.keep = plan.keep;
    server_.sessions().wake(*held_, *model_);
  }
  request.prompt = plan.prompt;
  if (held_) {
    gate = std::make_shared<EndGate>(http_.wakeup);
    record = server_.sessions().record(held_->session, *model_, std::move(plan), gate);
  }
  request.listener =
      std::make_shared<TurnListener>(http_.wakeup, server_.metrics(), server_.options().log, std::move(record));
  request.guard = http_.slot.lock();
  if (!held_) return {model_->driver->generate(std::nullopt, std::move(request)), nullptr};
  Refused refused{server_.sessions(), held_->made ? held_->session : nullptr};
  SessionLease lease = std::move(held_->lease);
  held_.reset();
  Ticket ticket = model_->driver->generate(std::move(lease), std::move(request));
  refused.session = nullptr;
  return {std::move(ticket), std::move(gate)};
}

}  // namespace genai::serve
