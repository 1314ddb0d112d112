// Messages of a session and messages of a request → one conversation; and a conversation that fits the context.
//
// Threads: pure functions. Errors: ApiError.
#pragma once

#include <functional>
#include <string>

#include "text/chat_template.h"

namespace genai::serve {

// What of `sent` is new. A request may hold only new messages, or repeat the stored conversation at its beginning (it
// then holds an answer, or begins with a system message while something is stored): its remainder is new. One that
// repeats it wrongly is ApiError{409 session_history_mismatch} with the first differing index.
Json new_messages(const Json& stored, const Json& sent);

struct Truncation {
  int64_t dropped_messages = 0, dropped_tokens = 0;
};

// Drops whole oldest turns until `tokens_of` is at most `most`; never the leading system messages, nor anything from
// the last user message on; a call of a tool and its results go together. Unchanged when even that doesn't fit.
Truncation truncate_history(Json& messages, int64_t most, const std::function<int64_t(const Json&)>& tokens_of);

}  // namespace genai::serve
