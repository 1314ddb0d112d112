// From a checked call to a running turn, for every route that generates.
//
// The order is the contract: session lease, then prompt and limits, then the engine's permit. What is refused on the
// way has cost nothing that comes later, and a session that was made for a refused turn is gone again. Threads: any;
// waits for the engine only to give a session its context. Errors: ApiError, Error.
#pragma once

#include "serve/server.h"
#include "serve/turn_ticket.h"

namespace genai::serve {

// X-Session-Id, or the body's session_id; nullopt: a stateless turn. Throws ApiError{400} for what is no session id.
std::optional<SessionId> session_named(const HttpRequest& http, const std::string& field);

SessionId session_in_path(const HttpRequest& http);  // {id}; unknown when it is no session id

class TurnStart {
 public:
  // Loads the model, and takes the session's lease when the request names one. `model` may be empty.
  TurnStart(Server& server, const HttpRequest& http, const std::string& model, const std::string& session_field);
  ~TurnStart();
  TurnStart(const TurnStart&) = delete;
  TurnStart& operator=(const TurnStart&) = delete;

  ServedModel& model() { return *model_; }
  std::shared_ptr<ServedModel> shared_model() { return model_; }
  const Session* session() const { return held_ ? held_->session.get() : nullptr; }  // leased by this turn
  std::string session_id() const { return held_ ? held_->session->id.text() : std::string(); }

  // plan.prompt are all the tokens; what the session's context already begins with is not sent again.
  TurnTicket run(TurnPlan plan, Request request);
  void check_length(int64_t prompt_tokens, const char* field) const;

 private:
  void check_model();

  Server& server_;
  const HttpRequest& http_;
  std::shared_ptr<ServedModel> model_;
  std::optional<HeldSession> held_;
};

}  // namespace genai::serve
