// The client's name for a session: 1 to 128 printable ASCII bytes. Who knows it may use the session, so logs show
// redacted() only.
//
// Threads: a value. Errors: parse() answers nullopt for what is no session id.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace genai::serve {

class SessionId {
 public:
  static constexpr size_t kMaxBytes = 128;

  static SessionId random();  // "sess-" and 32 hex digits from the operating system
  static std::optional<SessionId> parse(std::string_view text);

  const std::string& text() const { return text_; }
  std::string redacted() const;  // "sess-1a2b3c4d…"; a client's own name: "[redacted]"
  auto operator<=>(const SessionId&) const = default;

 private:
  explicit SessionId(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace genai::serve
