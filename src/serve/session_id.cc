#include "serve/session_id.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace genai::serve {
namespace {
constexpr std::string_view kPrefix = "sess-";
constexpr size_t kRandomBytes = 16, kShownDigits = 8;

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}
}  // namespace

SessionId SessionId::random() {
  std::array<unsigned char, kRandomBytes> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) {
    throw nxrt::Error(nxrt::Code::io, "the operating system gave no random bytes");
  }
  std::string text(kPrefix);
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return SessionId(std::move(text));
}

std::optional<SessionId> SessionId::parse(std::string_view text) {
  const bool printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
  if (text.empty() || text.size() > kMaxBytes || !printable) return std::nullopt;
  return SessionId(std::string(text));
}

std::string SessionId::redacted() const {
  const bool ours = text_.starts_with(kPrefix) && text_.size() == kPrefix.size() + 2 * kRandomBytes &&
                    is_hex(std::string_view(text_).substr(kPrefix.size()));
  return ours ? text_.substr(0, kPrefix.size() + kShownDigits) + "…" : "[redacted]";
}

}  // namespace genai::serve
