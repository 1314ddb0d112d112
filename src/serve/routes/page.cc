// GET /: a page to chat with the server, without anything from elsewhere
#include "serve/page.h"

#include "serve/dispatch.h"

namespace genai::serve::routes {
namespace {

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Reply answer(Server&, const HttpRequest&) {
  return {.content_type = "text/html; charset=utf-8",
          .body = std::string(kChatPage),
          .headers = {{"Content-Security-Policy", kPolicy}, {"X-Content-Type-Options", "nosniff"}}};
}

}  // namespace

Route page() { return {.method = "GET", .path = "/", .answer = answer, .instant = true, .open = true}; }

}  // namespace genai::serve::routes
