// The bytes of durable sessions: a journal that grows by one record per finished turn, and a snapshot with the keys and
// values. A journal's record holds what is new and how much of the old stays: it doesn't grow with the conversation.
// Every record carries its length and a checksum; a torn tail is where a crash was and is ignored, anything else that
// doesn't fit is corrupt. Journals of the first version (GENAIJ01) are read too.
//
// Threads: pure functions. Errors: read_* throw Error{corrupt} saying what is wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gen/engine.h"
#include "serve/session_registry.h"

namespace genai::serve {

// Journal. The head says whose session it is; a change says where the conversation continues and with what.
std::string journal_head(const Session& session, const std::string& fingerprint);

struct Change {
  int64_t keep_tokens = 0, keep_messages = 0, keep_turns = 0;  // of what was there
  std::vector<TokenId> tokens;                                 // these three are appended
  Json messages = Json::array();
  std::vector<TurnEnd> turns;
};
std::string journal_change(const Change& change);

struct Journal {
  SessionRegistry::Stored stored;
  std::string id;
};
Journal read_journal(std::string_view bytes);

// Snapshot: one file, whole or not at all.
struct Snapshot {
  std::string id, owner, model, fingerprint;
  int64_t created = 0;
  Conversation conversation;
  ContextImage image;  // its tokens are the conversation's
};
std::string snapshot_bytes(const Session& session, const std::string& fingerprint, const ContextImage& image);
bool is_whole_snapshot(std::string_view bytes);  // its checksum fits
Snapshot read_snapshot(std::string_view bytes);

}  // namespace genai::serve
