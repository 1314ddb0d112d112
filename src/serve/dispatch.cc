#include "serve/dispatch.h"

#include <fmt/format.h>

#include <new>
#include <nlohmann/json.hpp>

#include "serve/answer.h"

namespace genai::serve {
namespace {
// The route's path fits, piece by piece; "{name}" takes any non-empty piece.
bool fits(std::string_view pattern, std::string_view path, std::map<std::string, std::string>& parts) {
  while (true) {
    const size_t a = pattern.find('/', 1), b = path.find('/', 1);
    const std::string_view want = pattern.substr(0, a), is = path.substr(0, b);
    if (want.starts_with("/{")) {
      if (is.size() < 2) return false;
      parts[std::string(want.substr(2, want.size() - 3))] = is.substr(1);
    } else if (want != is) {
      return false;
    }
    if (a == std::string_view::npos || b == std::string_view::npos) {
      return a == std::string_view::npos && b == std::string_view::npos;
    }
    pattern.remove_prefix(a);
    path.remove_prefix(b);
  }
}

struct Found {
  const Route* route = nullptr;
  std::map<std::string, std::string> parts;
  std::string other_methods;  // of the same path
};

Found find_route(const HttpRequest& http) {
  Found found;
  for (const Route& route : all_routes()) {
    std::map<std::string, std::string> parts;
    if (!fits(route.path, http.path, parts)) continue;
    const bool head = http.method == "HEAD" && route.method == "GET";
    if (route.method == http.method || head) {
      // A literal piece beats a "{name}".
      if (found.route == nullptr || parts.size() < found.parts.size()) found = {&route, std::move(parts), {}};
    } else {
      found.other_methods += (found.other_methods.empty() ? "" : ", ") + std::string(route.method);
    }
  }
  return found;
}

ApiError no_route(const HttpRequest& http, const Found& found) {
  if (found.other_methods.empty()) {
    return ApiError::not_found(fmt::format("there is no route {} {}", http.method, http.path), "unknown_url");
  }
  ApiError error = ApiError::bad_request(
      {}, fmt::format("{} is not allowed on {}, expected {}", http.method, http.path, found.other_methods),
      "method_not_allowed");
  error.status = 405;
  error.headers = {{"Allow", found.other_methods}};
  return error;
}

Reply options_reply(const Server& server, const HttpRequest& http, const Found& found) {
  if (!http.header("origin").empty()) return server.options().origins.preflight(http);
  if (found.other_methods.empty()) throw no_route(http, found);
  Reply reply{.status = 204, .content_type = {}};
  reply.headers = {{"Allow", found.other_methods + ", OPTIONS"}};
  return reply;
}

Reply answer(Server& server, HttpRequest& http, const Found& found) {
  if (http.method == "OPTIONS") return options_reply(server, http, found);
  if (found.route == nullptr) throw no_route(http, found);
  http.path_parts = found.parts;
  if (!found.route->open) http.owner = server.options().keys.check(http);
  std::shared_ptr<void> slot;
  if (!found.route->instant) http.slot = slot = server.key_slots().take(http.owner);
  const std::string_view type = http.header("content-type");
  if (!http.body.empty() && !type.empty() && type.find("json") == std::string_view::npos) {
    throw ApiError::bad_request("Content-Type", fmt::format("Content-Type is '{}', expected application/json", type),
                                "invalid_content_type");
  }
  if (server.stopping() && http.method != "GET") {
    throw ApiError::unavailable("stopping", "the server is stopping and takes no new work");
  }
  return found.route->answer(server, http);
}

Reply refused(Server& server, const ApiError& error) {
  server.metrics().refusal(error.code.empty() ? error.type : error.code);
  return error_reply(error);
}

Reply failed(Server& server, const HttpRequest& http, const std::string& why) {
  server.log(fmt::format("{} {} failed: {}", http.method,
                         http.path.starts_with("/v1/sessions/") ? "/v1/sessions/…" : http.path, why));
  return refused(server, ApiError::internal());
}

constexpr int kClientClosedRequest = 499;

// Counts a request once its answer is there, by the status that the answer turned out to have.
class CountedReply : public PendingReply {
 public:
  CountedReply(std::unique_ptr<PendingReply> answer, Metrics& metrics, std::string_view path)
      : answer_(std::move(answer)), metrics_(metrics), path_(path) {}
  ~CountedReply() override {
    if (!counted_) metrics_.request(path_, kClientClosedRequest);
  }

  std::optional<Reply> poll() override {
    std::optional<Reply> made = answer_->poll();
    if (made && !std::exchange(counted_, true)) metrics_.request(path_, made->status);
    return made;
  }
  void give_up(const ApiError& reason) override { answer_->give_up(reason); }

 private:
  const std::unique_ptr<PendingReply> answer_;
  Metrics& metrics_;
  const std::string_view path_;  // a route's, or a literal
  bool counted_ = false;
};

// The only place of a request's way that catches.
Reply guarded(Server& server, HttpRequest& http, const Found& found) {
  try {
    return answer(server, http, found);
  } catch (const ApiError& error) {
    return refused(server, error);
  } catch (const nxrt::Error& error) {
    const ApiError seen = ApiError::from(error);
    return seen.status == 500 ? failed(server, http, error.text()) : refused(server, seen);
  } catch (const std::bad_alloc&) {
    return refused(server, ApiError::capacity("the server is out of memory; try a smaller request", "out_of_memory"));
  } catch (const std::exception& error) {
    return failed(server, http, error.what());
  }
}
}  // namespace

Reply dispatch(Server& server, HttpRequest& http) {
  const Found found = find_route(http);
  Reply reply = guarded(server, http, found);
  server.options().origins.add_headers(http, reply);
  const std::string_view path = found.route != nullptr ? found.route->path : "unknown";
  if (reply.pending) {
    reply.pending = std::make_unique<CountedReply>(std::move(reply.pending), server.metrics(), path);
  } else {
    server.metrics().request(path, reply.status);
  }
  return reply;
}

bool is_instant(const HttpRequest& http) {
  const Found found = find_route(http);
  return found.route == nullptr || found.route->instant;
}

Reply json_reply(const Json& json, int status) { return {.status = status, .body = dump(json)}; }

Reply error_reply(const ApiError& error) {
  Reply reply = json_reply(error.body(), error.status);
  reply.headers = error.headers;
  if (error.retry_after_s) reply.headers.emplace_back("Retry-After", std::to_string(*error.retry_after_s));
  return reply;
}

}  // namespace genai::serve
