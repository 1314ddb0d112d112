// The body of POST /v1/chat/completions, checked.
//
//   ChatCall call = ChatCall::parse(http.body, limits);
//
// Threads: a value. Errors: ApiError{400} naming the field; what is known but not offered is named, never ignored.
#pragma once

#include "serve/sampling_fields.h"

namespace genai::serve {

struct CallLimits {
  int max_output_tokens = 0;  // 0: none
  bool strict = false;        // unknown fields are errors
};

struct ChatCall {
  static ChatCall parse(std::string_view body, const CallLimits& limits);

  std::string model;
  Json messages;   // array of objects; content is a text or null
  Json variables;  // further template variables
  std::string session_id;
  bool logprobs = false;
  int top_logprobs = 0;
  bool truncate = false;  // truncation: "auto"
  std::optional<SamplingFields> sampling;
};

// An array of messages with role and text content, as templates expect them; content parts are joined.
Json read_messages(const Json& messages);

}  // namespace genai::serve
