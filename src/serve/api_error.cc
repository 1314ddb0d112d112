#include "serve/api_error.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gen/engine.h"

namespace genai::serve {
namespace {
constexpr const char* kContextImage = "context image";  // where the engine refuses what a session's file holds
constexpr const char* kChatTemplate = "chat template";  // how the place of a template's error begins

ApiError make(int status, const char* type, std::string code, std::string param, std::string message) {
  ApiError error;
  error.status = status;
  error.type = type;
  error.code = std::move(code);
  error.param = std::move(param);
  error.message = std::move(message);
  return error;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string with_fix(const nxrt::Error& error) {
  return error.fix().empty() ? error.message() : error.message() + "; " + error.fix();
}

// Where an Error happened is a field of the request, or a place in a file of this machine.
bool is_of_request(const nxrt::Error& error) { return error.at().find_first_of("/\\ >") == std::string::npos; }
}  // namespace

Json ApiError::body() const {
  Json error = {{"message", message}, {"type", type}, {"param", text_or_null(param)}, {"code", text_or_null(code)}};
  for (const auto& [name, value] : figures) error[name] = value;
  return {{"error", error}};
}

ApiError ApiError::bad_request(std::string param, std::string message, std::string code) {
  return make(400, "invalid_request_error", std::move(code), std::move(param), std::move(message));
}

ApiError ApiError::unsupported(std::string param, std::string message) {
  return make(400, "invalid_request_error", "unsupported_parameter", std::move(param), std::move(message));
}

ApiError ApiError::not_found(std::string message, std::string code, std::string param) {
  return make(404, "invalid_request_error", std::move(code), std::move(param), std::move(message));
}

ApiError ApiError::conflict(std::string code, std::string message) {
  return make(409, "conflict_error", std::move(code), {}, std::move(message));
}

ApiError ApiError::session_busy(const std::string& session) {
  return conflict("session_busy", "session '" + session +
                                      "' already has a turn in flight and runs one at a time; wait until that turn "
                                      "ends, then send this one again");
}

ApiError ApiError::context_length(int64_t prompt_tokens, int64_t context, std::string param) {
  ApiError error =
      make(400, "invalid_request_error", "context_length_exceeded", std::move(param),
           fmt::format(
               "the prompt has {} tokens; the model's context holds {}, at least one of them for the answer: send at "
               "most {} tokens",
               prompt_tokens, context, context - 1));
  error.figures = {{"n_prompt_tokens", prompt_tokens}, {"n_ctx", context}};
  return error;
}

ApiError ApiError::rate_limit(std::string code, std::string message) {
  ApiError error = make(429, "rate_limit_error", std::move(code), {}, std::move(message));
  error.retry_after_s = 1;
  return error;
}

ApiError ApiError::capacity(std::string message, std::string code) {
  ApiError error = make(429, "resource_limit_error", std::move(code), {}, std::move(message));
  error.retry_after_s = 1;
  return error;
}

ApiError ApiError::unavailable(std::string code, std::string message) {
  ApiError error = make(503, "unavailable_error", std::move(code), {}, std::move(message));
  error.retry_after_s = 1;
  return error;
}

ApiError ApiError::unauthorized(std::string message) {
  ApiError error = make(401, "authentication_error", "invalid_api_key", {}, std::move(message));
  error.headers = {{"WWW-Authenticate", "Bearer"}};
  return error;
}

ApiError ApiError::forbidden(std::string code, std::string message) {
  return make(403, "permission_error", std::move(code), {}, std::move(message));
}

ApiError ApiError::internal() {
  return make(500, "server_error", "internal_error", {}, "the server failed on this request; its log says why");
}

ApiError ApiError::from(const nxrt::Error& error) {
  using nxrt::Code;
  if (error.code() == Code::corrupt && (error.at() == kSessionFile || error.at() == kContextImage)) {
    return make(422, "invalid_request_error", "session_file_damaged", "id",
                "the session's file can't be used: " + error.message());
  }
  if (error.code() == Code::invalid_argument && error.at().starts_with(kChatTemplate)) {
    return bad_request("messages",
                       "the model's chat template refuses these messages: " + error.message() + " (" + error.at() + ")",
                       "chat_template_error");
  }
  if (!is_of_request(error)) return internal();
  switch (error.code()) {
    case Code::invalid_argument: return bad_request(error.at(), with_fix(error));
    case Code::not_found: return not_found(with_fix(error), "not_found", error.at());
    case Code::unsupported: return unsupported(error.at(), with_fix(error));
    case Code::out_of_capacity: return capacity(with_fix(error), "capacity_exceeded");
    case Code::cancelled: return unavailable(error.at() == kEngineWait ? "engine_busy" : "cancelled", error.message());
    case Code::corrupt:
    case Code::io:
    case Code::internal: break;
  }
  return internal();
}

}  // namespace genai::serve
