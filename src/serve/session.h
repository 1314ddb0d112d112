// A conversation that lives on the server between requests.
//
// Threads: `conversation` belongs to who holds the session's lease (a running turn's listener included); the constant
// members and the atomic figures may be read by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gen/request.h"
#include "serve/lease.h"
#include "serve/session_id.h"
#include "text/chat_template.h"

namespace genai::serve {

// Where a finished turn left the conversation: what a rewind can go back to without losing a message.
struct TurnEnd {
  int64_t tokens = 0;
  int64_t messages = 0;
};

struct Conversation {
  std::vector<TokenId> tokens;    // what the engine's context holds
  Json messages = Json::array();  // of chat turns; a session of plain completions has none
  std::vector<TurnEnd> turns;

  // Back to the first `position` tokens; messages of turns that ended later are forgotten.
  void rewind(int64_t position);
};

struct Session {
  Session(SessionId id, std::string owner, SessionPlacement placement, int64_t created)
      : id(std::move(id)), owner(std::move(owner)), placement(std::move(placement)), created(created) {}

  const SessionId id;
  const std::string owner;  // of the API key that made it; empty without keys
  const SessionPlacement placement;
  const int64_t created;  // Unix seconds

  Conversation conversation;  // under the lease
  std::string fingerprint;    // under the lease: of the model that the tokens belong to; empty: not begun

  // Durable sessions: the journal lacks something (the disk is full). Such a session is in memory alone and stays there
  // until it could be written: it isn't evicted.
  std::atomic<bool> unwritten{false};

  std::atomic<int64_t> token_count{0}, turns{0}, last_used{0};  // for introspection
  void publish() {
    token_count.store(static_cast<int64_t>(conversation.tokens.size()));
    turns.store(static_cast<int64_t>(conversation.turns.size()));
  }
};

Json session_object(const Session& session, bool busy);

}  // namespace genai::serve
