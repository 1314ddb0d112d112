// From a request to its route. A route is one file in routes/: `Route <file name>()`; CMake generates the table and
// fails when a route has no transcript at tests/golden/http/<file name>.txt.
//
// Threads: any. Errors: none leave dispatch(): each becomes the reply that the client understands.
#pragma once

#include <span>
#include <string_view>

#include "serve/http.h"
#include "serve/server.h"

namespace genai::serve {

struct Route {
  std::string_view method, path;  // "/v1/sessions/{id}"
  Reply (*answer)(Server& server, const HttpRequest& http);
  bool instant = false;  // never waits and computes little: may run on the event loop
  bool open = false;     // needs no API key
};

std::span<const Route> all_routes();

Reply dispatch(Server& server, HttpRequest& http);
bool is_instant(const HttpRequest& http);

Reply json_reply(const Json& json, int status = 200);
Reply error_reply(const ApiError& error);

}  // namespace genai::serve
