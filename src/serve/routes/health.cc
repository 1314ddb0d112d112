// GET /health: the process is alive
#include "serve/dispatch.h"

namespace genai::serve::routes {
namespace {
Reply answer(Server&, const HttpRequest&) { return {.body = R"({"status":"ok"})"}; }
}  // namespace

Route health() { return {.method = "GET", .path = "/health", .answer = answer, .instant = true, .open = true}; }

}  // namespace genai::serve::routes
