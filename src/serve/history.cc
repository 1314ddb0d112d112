#include "serve/history.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "serve/api_error.h"

namespace genai::serve {
namespace {
bool has_role(const Json& message, const char* role) { return message.value("role", "") == role; }
bool is_system(const Json& message) { return has_role(message, "system") || has_role(message, "developer"); }

Json field(const Json& message, const char* name) {
  const auto it = message.find(name);
  return it == message.end() || *it == Json("") ? Json(nullptr) : *it;
}

bool same_message(const Json& a, const Json& b) {
  return field(a, "role") == field(b, "role") && field(a, "content") == field(b, "content") &&
         field(a, "tool_calls") == field(b, "tool_calls");
}

bool repeats(const Json& stored, const Json& sent) {
  if (stored.empty()) return false;
  if (is_system(sent[0])) return true;
  for (const Json& message : sent) {
    if (has_role(message, "assistant")) return true;
  }
  return false;
}

ApiError mismatch(size_t index) {
  ApiError error = ApiError::conflict(
      "session_history_mismatch",
      fmt::format("messages[{}] differs from the session's conversation; send only what is new, or repeat the "
                  "conversation as it was, or use another session",
                  index));
  error.param = fmt::format("messages[{}]", index);
  error.figures = {{"index", static_cast<int64_t>(index)}};
  return error;
}

size_t leading_system(const Json& messages) {
  size_t count = 0;
  while (count < messages.size() && is_system(messages[count])) ++count;
  return count;
}

size_t last_user(const Json& messages) {
  for (size_t i = messages.size(); i > 0; --i) {
    if (has_role(messages[i - 1], "user")) return i - 1;
  }
  return 0;
}
}  // namespace

Json new_messages(const Json& stored, const Json& sent) {
  if (!repeats(stored, sent)) return sent;
  for (size_t i = 0; i < stored.size(); ++i) {
    if (i >= sent.size() || !same_message(stored[i], sent[i])) throw mismatch(i);
  }
  if (sent.size() == stored.size()) {
    throw ApiError::bad_request("messages", "messages repeats the session's conversation and adds nothing to it");
  }
  return Json(Json::array_t(sent.begin() + static_cast<ptrdiff_t>(stored.size()), sent.end()));
}

Truncation truncate_history(Json& messages, int64_t most, const std::function<int64_t(const Json&)>& tokens_of) {
  const size_t first = leading_system(messages), end = last_user(messages);
  const int64_t before = tokens_of(messages);
  Json kept = messages;
  size_t dropped = 0;
  int64_t now = before;
  while (now > most && first + dropped < end) {
    do {  // up to the next user message: a turn with its answers, calls and results
      kept.erase(kept.begin() + static_cast<ptrdiff_t>(first));
      ++dropped;
    } while (first + dropped < end && !has_role(kept[first], "user"));
    now = tokens_of(kept);
  }
  if (dropped == 0 || now > most) return {};
  messages = std::move(kept);
  return {static_cast<int64_t>(dropped), before - now};
}

}  // namespace genai::serve
