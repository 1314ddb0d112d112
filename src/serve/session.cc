#include "serve/session.h"

namespace genai::serve {

void Conversation::rewind(int64_t position) {
  tokens.resize(static_cast<size_t>(position));
  while (!turns.empty() && turns.back().tokens > position) turns.pop_back();
  const int64_t kept = turns.empty() ? 0 : turns.back().messages;
  messages.erase(messages.begin() + std::min<ptrdiff_t>(kept, static_cast<ptrdiff_t>(messages.size())), messages.end());
}

Json session_object(const Session& session, bool busy) {
  return {{"id", session.id.text()},
          {"object", "session"},
          {"created", session.created},
          {"model", session.placement.model},
          {"token_count", session.token_count.load()},
          {"turns", session.turns.load()},
          {"busy", busy},
          {"last_used", session.last_used.load()}};
}

}  // namespace genai::serve
